"""Batches compared with a slow loop over pairs."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from readagain.config.schema import DataSpec
from readagain.corpus.lexicon import UNKNOWN_ID, Lexicon
from readagain.corpus.shards import CorpusShard, CorpusSplit
from readagain.text.vocab import (
    BOS,
    EOS,
    PAD,
    SPECIAL_TOKENS,
    UNK,
    Vocab,
    extended_source_ids,
    extended_summary_ids,
)
from readagain.training.dataset import BatchIndices, TrainingDataset

WORDS = ["the", "bridge", "opens", "in", "norrvik", "quay", "ferry", "burns"]
LEXICON = Lexicon(WORDS, np.arange(8, 0, -1), np.arange(8, 0, -1))
SOURCE_VOCAB = Vocab([*SPECIAL_TOKENS, "the", "bridge", "in"])
VOCAB = Vocab([*SPECIAL_TOKENS, "bridge", "opens", "burns"])
CPU = torch.device("cpu")

# Sentences and summary; "?" is a word that the lexicon does not contain.
PAIRS = [
    (["the bridge opens in norrvik", "norrvik ? ferry"], "norrvik bridge opens"),
    (["quay ? quay ? burns"], "quay ? burns quay"),
    (["ferry", "the ferry burns in norrvik", "the quay opens"], "ferry burns"),
    (["the bridge in quay", "the bridge"], "norrvik opens"),
    (["bridge opens"], "bridge"),
]
ONE_SENTENCE = DataSpec(num_sentences=1, max_source_words=9, max_summary_words=9)
DATA_SPECS = {
    "one sentence": ONE_SENTENCE,
    "two sentences": replace(ONE_SENTENCE, num_sentences=2),
    "three joined": replace(ONE_SENTENCE, num_sentences=3, join_sentences=True),
    "truncated": DataSpec(num_sentences=2, max_source_words=3, max_summary_words=2),
    "joined, truncated": DataSpec(num_sentences=2, join_sentences=True, max_source_words=6),
}


def make_shard(pairs):
    texts = [text.split() for sentences, summary in pairs for text in (*sentences, summary)]
    ids = [UNKNOWN_ID if word == "?" else WORDS.index(word) for text in texts for word in text]
    return CorpusShard(
        words=np.array(ids, np.int32),
        segments=np.cumsum([0, *map(len, texts)]),
        pairs=np.cumsum([0, *(len(sentences) + 1 for sentences, _ in pairs)]),
        origins=np.zeros(len(pairs), np.uint16),
    )


def load_dataset(data, *, shards=(PAIRS,), device=CPU):
    return TrainingDataset(
        CorpusSplit("train", tuple(map(make_shard, shards))),
        source_id_by_lexicon_id=LEXICON.vocab_ids(SOURCE_VOCAB),
        summary_id_by_lexicon_id=LEXICON.vocab_ids(VOCAB),
        vocab_size=len(VOCAB),
        data=data,
        device=device,
    )


def to_tokens(text):
    """Split a text into words; "?" becomes <unk>, which is in the vocabulary and never copied."""
    return [SPECIAL_TOKENS[UNK] if word == "?" else word for word in text.split()]


def pad(words, size):
    return words + [SPECIAL_TOKENS[PAD]] * (size - len(words))


def truncate(sentences, data):
    """Return the words that the network reads; missing sentences are empty."""
    sentences = sentences[: data.num_sentences]
    if data.join_sentences:
        sentences = [sum(sentences, [])]
    num_missing = (1 if data.join_sentences else data.num_sentences) - len(sentences)
    return [words[: data.max_source_words] for words in sentences] + [[]] * num_missing


def expected_row(index, data, bucket):
    """Return the row of a batch for a pair, computed by a plain loop."""
    texts, summary = PAIRS[index]
    sentences = truncate([to_tokens(text) for text in texts], data)
    padded_sentences = [pad(words, bucket.source_words) for words in sentences]
    source = sum(padded_sentences, [])
    summary_words = to_tokens(summary)[: data.max_summary_words]
    ids = extended_summary_ids(summary_words, source, VOCAB)
    padding = [PAD] * (bucket.summary_words - len(ids))
    return {
        "source_ids": [SOURCE_VOCAB.ids(words) for words in padded_sentences],
        "source_lengths": [len(words) for words in sentences],
        "source_ext_ids": extended_source_ids(source, VOCAB),
        "previous_ids": [BOS, *ids, *padding],
        "target_ids": [*ids, EOS, *padding],
        "target_valid": [True] * (len(ids) + 1) + [False] * len(padding),
    }


@pytest.mark.parametrize("data", DATA_SPECS.values(), ids=DATA_SPECS)
@pytest.mark.parametrize("batch_size", [1, 2, 8])
def test_batch_equals_loop_over_pairs(data, batch_size):
    dataset = load_dataset(data)
    indices = []
    for plan in dataset.plan_unshuffled(batch_size=batch_size):
        batch = dataset.batch(plan, batch_size=batch_size)
        for row, index in enumerate(plan.pairs.tolist()):
            values = {name: tensor[row].tolist() for name, tensor in vars(batch).items()}
            assert values == expected_row(index, data, plan.bucket)
            indices.append(index)
    assert sorted(indices) == list(range(len(PAIRS)))


def test_words_not_in_lexicon_are_unk_and_not_copied():
    dataset = load_dataset(ONE_SENTENCE)
    (plan,) = dataset.plan_unshuffled(batch_size=8)
    batch = dataset.batch(plan, batch_size=8)
    V = len(VOCAB)
    assert batch.source_ext_ids[1, :5].tolist() == [V, UNK, V, UNK, 6]
    assert batch.target_ids[1, :5].tolist() == [V, UNK, 6, V, EOS]


def test_padding_rows_have_one_word_and_no_target():
    dataset = load_dataset(replace(ONE_SENTENCE, num_sentences=2))
    (plan,) = dataset.plan_unshuffled(batch_size=8)
    batch = dataset.batch(plan, batch_size=8)
    assert batch.shape_key() == (8, 2, 5, 5)
    assert batch.source_lengths[5:].tolist() == [[1, 0]] * 3
    assert (batch.source_ids[5:, 0, 1:] == PAD).all()
    assert not batch.target_valid[5:].any()


def test_several_shards_equal_one_shard():
    data = replace(ONE_SENTENCE, num_sentences=2)
    one_shard = load_dataset(data)
    three_shards = load_dataset(data, shards=(PAIRS[:2], PAIRS[2:3], PAIRS[3:]))
    (plan,) = one_shard.plan_unshuffled(batch_size=5)
    batch = three_shards.batch(plan, batch_size=5)
    for name, expected in vars(one_shard.batch(plan, batch_size=5)).items():
        assert torch.equal(getattr(batch, name), expected), name


def test_epoch_order_depends_on_seed_and_epoch():
    dataset = load_dataset(ONE_SENTENCE)

    def order(epoch, seed):
        plans = dataset.plan_epoch(epoch=epoch, batch_size=2, seed=seed)
        return [plan.pairs.tolist() for plan in plans]

    assert sorted(sum(order(0, 1), [])) == list(range(len(PAIRS)))
    assert order(0, 1) == order(0, 1)
    assert len({str(order(epoch, seed)) for epoch in range(4) for seed in range(4)}) > 8


def test_processes_divide_a_batch():
    dataset = load_dataset(ONE_SENTENCE)
    (plan,) = dataset.plan_unshuffled(batch_size=5)
    whole = dataset.batch(plan, batch_size=5)
    parts = [
        dataset.local_batch(plan, batch_size=5, rank=rank, world_size=2).assemble()
        for rank in (0, 1)
    ]
    assert [len(part.target_ids) for part in parts] == [3, 3]
    joined = torch.cat([part.target_ids for part in parts])
    valid = torch.cat([part.target_valid for part in parts])
    assert torch.equal(joined[:5], whole.target_ids)
    assert not valid[5].any()


def test_process_without_pairs_gets_padding_rows():
    dataset = load_dataset(ONE_SENTENCE)
    plan = replace(dataset.plan_unshuffled(batch_size=8)[0], pairs=torch.tensor([4]))
    batch = dataset.local_batch(plan, batch_size=4, rank=1, world_size=2).assemble()
    assert batch.source_lengths.tolist() == [[1], [1]]
    assert not batch.target_valid.any()


def test_device_with_and_without_index_is_the_same():
    dataset = load_dataset(ONE_SENTENCE, device=torch.device("cpu", 0))
    assert isinstance(
        dataset.local_batch(dataset.plan_unshuffled(batch_size=8)[0], batch_size=8), BatchIndices
    )


@pytest.mark.parametrize("data", DATA_SPECS.values(), ids=DATA_SPECS)
def test_sentences_are_those_that_the_network_reads(data):
    dataset = load_dataset(data)
    for pair, (texts, _) in enumerate(PAIRS):
        words = [
            ["?" if id < 0 else WORDS[id] for id in sentence]
            for sentence in dataset.sentences(pair)
        ]
        assert words == truncate([text.split() for text in texts], data)


def test_plan_unshuffled_has_only_the_requested_pairs():
    plans = load_dataset(ONE_SENTENCE).plan_unshuffled(batch_size=2, pairs=[3, 0, 4])
    assert sorted(pair for plan in plans for pair in plan.pairs.tolist()) == [0, 3, 4]
    assert load_dataset(ONE_SENTENCE).plan_unshuffled(batch_size=2, pairs=[]) == []


def test_static_copy_copies_another_batch():
    dataset = load_dataset(ONE_SENTENCE)
    (plan,) = dataset.plan_unshuffled(batch_size=8)
    first, second = (
        dataset.batch(replace(plan, pairs=torch.tensor(pairs)), batch_size=2)
        for pairs in ([0, 1], [2, 3])
    )
    static = first.static_copy()
    static.copy_from(second)
    assert torch.equal(static.target_ids, second.target_ids)
    assert not torch.equal(first.target_ids, second.target_ids)


@pytest.mark.parametrize(
    "data", [ONE_SENTENCE, replace(ONE_SENTENCE, max_source_words=4)], ids=["complete", "truncated"]
)
def test_style_token_follows_the_words_of_each_source(data):
    style_id = 99
    dataset = TrainingDataset(
        CorpusSplit("train", (make_shard(PAIRS),)),
        source_id_by_lexicon_id=LEXICON.vocab_ids(SOURCE_VOCAB),
        summary_id_by_lexicon_id=LEXICON.vocab_ids(VOCAB),
        vocab_size=len(VOCAB),
        style_id=style_id,
        data=data,
        device=CPU,
    )
    # The same words without the token, which takes the place of the last word.
    plain = load_dataset(replace(data, max_source_words=data.max_source_words - 1))
    [plan], [plain_plan] = (data.plan_unshuffled(batch_size=8) for data in (dataset, plain))
    styled, expected = dataset.batch(plan, batch_size=8), plain.batch(plain_plan, batch_size=8)
    assert torch.equal(styled.source_lengths, expected.source_lengths + 1)
    for row, length in enumerate(expected.source_lengths[:, 0].tolist()):
        words = expected.source_ids[row, 0, :length].tolist()
        assert styled.source_ids[row, 0, : length + 1].tolist() == [*words, style_id]
        assert styled.source_ext_ids[row, length] == UNK
    assert styled.source_ids.size(2) <= data.max_source_words
