"""Check of graphs: graphs of the same weights pass, other graphs are rejected."""

from dataclasses import replace

import numpy as np
import pytest

from readagain.corpus.prepare import prepare
from readagain.corpus.readers.find import CorpusReadOptions, find_inputs
from readagain.corpus.settings import PrepareSettings, SplitSize
from readagain.errors import ArtifactError
from readagain.export import check as check_module
from readagain.export.check import CheckText, check_graphs, corpus_texts, random_texts
from readagain.export.write import build_graphs, model_graphs
from readagain.networks.step_model import TorchStepModel
from readagain.text.vocab import Vocab

WITH_REFERENCES = [
    CheckText("the old bridge opens .", "old bridge opens"),
    CheckText("the zyx ferry sails .", "ferry sails"),
]


def test_check_accepts_graphs_of_same_weights(trained):
    graphs = model_graphs(trained, ["int8", "float32"])
    texts = random_texts(trained, 10)
    check = check_graphs(trained, graphs, texts, origin="random words", threads=1)
    assert (check.texts, check.same_n_best, check.rouge) == (10, 1.0, {})
    assert check.largest_score_difference < 1e-4
    assert 0 <= check.int8_same_best <= 1


def test_check_scores_every_back_end_with_references(trained):
    graphs = model_graphs(trained, ["float32"])
    check = check_graphs(trained, graphs, WITH_REFERENCES, origin="two", threads=1)
    assert check.rouge["float32"] == check.rouge["torch"]
    assert check.rouge["torch"].keys() == {"rouge-1", "rouge-2", "rouge-l"}
    assert check.int8_same_best is None


def test_check_does_not_rerank(trained):
    reranking = replace(trained.run.decode, beam_size=5, consensus=1.0, word_reward=1.0)
    model_dir = replace(trained, run=replace(trained.run, decode=reranking))
    network = TorchStepModel(check_module.load_network(trained, purpose="checking"))
    for n_best in check_module._summarize(model_dir, network, random_texts(trained, 5)):
        scores = [score for _, score in n_best]
        assert scores == sorted(scores, reverse=True)
        assert scores[0] < 0


def test_check_reads_texts_in_the_style_of_the_model(trained, monkeypatch):
    vocab = Vocab([*trained.source_vocab.words, "<loose>"])
    decode = replace(trained.run.decode, style="loose")
    model_dir = replace(trained, source_vocab=vocab, run=replace(trained.run, decode=decode))
    batches = []

    def record_batch(model, sources, decode, *, n_best):
        batches.append(sources)
        return [[]] * len(sources)

    monkeypatch.setattr(check_module, "decode_sources", record_batch)
    network = TorchStepModel(check_module.load_network(trained, purpose="checking"))
    list(check_module._summarize(model_dir, network, random_texts(trained, 5)))
    for batch in batches:
        last_ids = batch.source_ids[:, 0][range(len(batch)), batch.lengths[:, 0] - 1]
        assert set(last_ids) == {vocab.styles["loose"]}


def test_punctuation_only_text_has_empty_summary(trained):
    graphs = model_graphs(trained, ["float32"])
    texts = [CheckText(". . .", "nothing"), *WITH_REFERENCES]
    for batch in (texts, texts[:1]):
        check = check_graphs(trained, graphs, batch, origin="some", threads=1)
        assert (check.texts, check.same_n_best) == (len(batch), 1.0)


def test_check_rejects_graphs_of_other_weights(trained):
    weights = check_module.load_network(trained, purpose="checking").state_dict()
    random = np.random.default_rng(3)
    other_weights = {name: random.normal(size=value.shape) for name, value in weights.items()}
    graphs = build_graphs(trained.run, other_weights, ["float32"])
    with pytest.raises(
        ArtifactError,
        match=r"agree with the network on only .*nothing was written; .* train longer or check",
    ):
        check_graphs(trained, graphs, random_texts(trained, 10), origin="random", threads=1)


@pytest.mark.parametrize(
    ("num_texts", "num_different", "is_accepted"),
    [
        (19, 1, False),
        (20, 1, True),
        (40, 1, True),
        (40, 2, False),
        (1000, 5, True),
        (1000, 6, False),
    ],
)
def test_check_allows_one_near_tie_in_a_few_dozen_texts(num_texts, num_different, is_accepted):
    same_n_best = (num_texts - num_different) / num_texts
    assert check_module._is_accepted(same_n_best, num_texts) is is_accepted


def test_check_rejects_int8_with_large_rouge_drop(trained, monkeypatch):
    scores = {"torch": {"rouge-1": 40.0}, "int8": {"rouge-1": 39.5}}
    monkeypatch.setattr(check_module, "_rouge", lambda summaries, texts: scores)
    graphs = model_graphs(trained, ["int8"])
    with pytest.raises(
        ArtifactError,
        match=r"int8 lowers ROUGE by 0\.50 points \(rouge-1\) .*use the precision float32",
    ):
        check_graphs(trained, graphs, WITH_REFERENCES, origin="two", threads=1)


def test_random_texts_are_fixed_and_contain_oov_words(trained):
    texts = random_texts(trained, 5)
    assert texts == random_texts(trained, 5)
    assert all("oov-" in text.text for text in texts)


def test_check_rejects_other_words_with_equal_scores(trained):
    network = check_module.load_network(trained, purpose="checking")
    tensors = {name: tensor.numpy() for name, tensor in network.state_dict().items()}
    # The special tokens stay; the other words, which the texts do not contain, are permuted.
    permutation = [*range(4), *range(6, 11), 4, 5]
    for name in ("previous_words.embedding.weight", "output.project.weight", "output.project.bias"):
        tensors[name] = tensors[name][permutation]
    graphs = build_graphs(trained.run, tensors, ["float32"])
    texts = [CheckText("zyxwick quorbane"), CheckText("quorbane ansett zyxwick")]
    with pytest.raises(ArtifactError, match=r"on only 0\.0% of 2 texts"):
        check_graphs(trained, graphs, texts, origin="two", threads=1)


def test_ties_may_change_order_and_drop_the_last():
    def same_n_best(graph_list, network_list):
        summaries = {"float32": [graph_list], "torch": [network_list]}
        fraction, _ = check_module._n_best_agreement(summaries)
        return fraction

    graph_list = [("a", -1.0), ("b", -2.0), ("c", -2.0), ("d", -3.0)]
    network_list = [("a", -1.0), ("c", -2.0), ("b", -2.0), ("e", -3.0)]
    assert same_n_best(graph_list, network_list) == 1.0
    assert same_n_best(graph_list, [("x", -1.0), *network_list[1:]]) == 0.0


def test_corpus_texts_are_dev_texts_then_training_texts(tmp_path):
    lines = [f"The old bridge of {name} opens on Monday,{name} bridge opens" for name in "ABCDEF"]
    (tmp_path / "pairs.csv").write_text("\n".join(["text,headline", *lines]))
    sources = find_inputs([str(tmp_path / "pairs.csv")], CorpusReadOptions())
    prepare(sources, tmp_path / "data", PrepareSettings(dev=SplitSize(pairs=2)))
    dev_texts = corpus_texts(tmp_path / "data", 9)
    all_texts = corpus_texts(tmp_path / "data", 5, with_train=True)
    assert (len(dev_texts), len(all_texts)) == (2, 5)
    assert all_texts[:2] == dev_texts
    assert len({text.text for text in all_texts}) == 5
    assert corpus_texts(tmp_path / "data", 1) == dev_texts[:1]
