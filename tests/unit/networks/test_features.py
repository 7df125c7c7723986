"""The feature-rich encoder: bins, the noun or verb rule, and what is joined to a word."""

import pytest
import torch

from readagain.config.features import NUM_RARITIES, PARTS_OF_SPEECH
from readagain.networks.build import fill_features
from readagain.networks.features import FeatureEmbedding, frequencies, rarities, settled
from readagain.text.vocab import PAD, SPECIAL_TOKENS, UNK, Vocab

DETERMINER, NOUN, VERB, AUXILIARY, EITHER = map(
    PARTS_OF_SPEECH.index, ("determiner", "noun", "verb", "auxiliary", "noun or verb")
)


def test_a_bin_of_rarity_is_four_times_as_large_as_the_one_before():
    found = rarities(4 + 70).tolist()
    assert found[:4] == [NUM_RARITIES - 1] * 4  # reserved words have no rank
    assert found[4:8] == [0] * 4
    assert found[8:20] == [1] * 12
    assert found[20:68] == [2] * 48
    assert found[68:] == [3] * 6
    assert rarities(400_000).max() == NUM_RARITIES - 1


def test_the_word_before_decides_between_noun_and_verb():
    parts = torch.tensor([[[EITHER, AUXILIARY, EITHER, DETERMINER, EITHER, EITHER]]])
    expected = [[[NOUN, AUXILIARY, VERB, DETERMINER, NOUN, NOUN]]]
    assert settled(parts).tolist() == expected


def test_words_are_counted_in_all_sentences_of_a_text_and_in_no_other():
    ids = torch.tensor([[[7, 8, 7], [7, UNK, PAD]], [[7, UNK, UNK], [9, PAD, PAD]]])
    assert frequencies(ids).tolist() == [[[2, 0, 2], [2, 0, 0]], [[0, 0, 0], [0, 0, 0]]]


def test_more_often_than_the_last_bin_is_in_the_last_bin():
    assert frequencies(torch.full((1, 1, 9), 7)).tolist() == [[[4] * 9]]


def test_four_embeddings_are_joined():
    torch.manual_seed(1)
    features = FeatureEmbedding(vocab_size=12, size=2)
    features.fill(torch.tensor([[NOUN, 3]]).expand(12, 2))
    (found,) = features(torch.tensor([[[9, 5, 9]]]))[0]
    expected = torch.cat(
        [
            features.part_of_speech.weight[NOUN],
            features.entity.weight[3],
            features.frequency.weight[1],
            features.rarity.weight[1],
        ]
    )
    torch.testing.assert_close(found[0], expected)
    assert found.shape == (3, 8)


@pytest.mark.parametrize("output", ["softmax", "copy", "switch"])
def test_a_network_reads_the_kinds_of_its_words(build, make_batch, output):
    model, batch = build({"model.feature_size": 3, "model.output": output}), make_batch()
    before = model(*batch.arguments())
    words = [*SPECIAL_TOKENS, *(f"{letter}ing" for letter in "abcdefghijklmno"), "the"]
    fill_features(model, Vocab(words))
    assert not torch.equal(model(*batch.arguments()), before)
    assert model.state_dict()["source_features.kinds"][-1, 0] == DETERMINER


def test_a_network_without_features_is_left_alone(build):
    model = build()
    fill_features(model, Vocab([*SPECIAL_TOKENS, "the"]))
    assert "source_features.kinds" not in model.state_dict()
