"""Results of a small reproduction, compared with `readagain evaluate`."""

import gzip
import json
from dataclasses import asdict, replace

import numpy as np
import pytest
import torch
from rich.console import Console

from readagain.corpus.readers.find import CorpusReadOptions
from readagain.engine.source import SourceReader
from readagain.engine.summarizer import Summarizer
from readagain.errors import ConfigError, DataError, MissingExtraError
from readagain.evaluation.dataset import read_dataset
from readagain.evaluation.evaluate import evaluate
from readagain.evaluation.systems import load_system
from readagain.experiments import report
from readagain.experiments.catalog import PAPER_EXAMPLES
from readagain.experiments.importance import measure_importance
from readagain.experiments.options import ReproduceOptions
from readagain.experiments.report import write_report
from readagain.experiments.reproduce import run_experiments
from readagain.experiments.results import read_results
from readagain.experiments.run_experiment import _describe_machine
from readagain.experiments.trained_model import ExperimentModel
from readagain.export.write import model_graphs, write_graphs
from readagain.model_dir import ModelDir
from readagain.training.provenance import package_commit, source_hash

pytestmark = pytest.mark.slow

COPY = "read_again_lstm_copy_15k"


@pytest.fixture(scope="module")
def kept_run(tmp_path_factory):
    """Run an experiment and keep its weights; return result, model directory and corpora."""
    out = tmp_path_factory.mktemp("kept") / "out"
    options = ReproduceOptions(
        names=(COPY,), out=out, scale="small", device_name="cpu", epochs=2, keep_weights=True
    )
    run_experiments(options, Console(quiet=True))
    [result] = read_results(out)
    return result, options.work / f"{COPY}-converged-seed1", options.work / "corpora"


@pytest.mark.parametrize(
    ("name", "protocol"), [("invented", "gigaword"), ("invented-duc", "duc2003")]
)
def test_scores_equal_those_of_the_exported_model(kept_run, name, protocol):
    result, folder, corpora = kept_run
    model = ModelDir.open(folder)
    write_graphs(model, model_graphs(model, ["float32"]), {})
    duc = {"beam": 10, "min_words": 15, "max_words": 15, "min_bytes": 0, "max_bytes": 0}
    asked = duc if protocol == "duc2003" else {}
    system = load_system(str(folder), protocol, decoding=asked, threads=1, precision="float32")
    data = read_dataset(corpora / name, CorpusReadOptions())
    found = evaluate(system, data, protocol)
    ours = result.sets[name]
    assert (ours.protocol, ours.figure) == (protocol, found.rouge.protocol.main_score)
    assert ours.fingerprint == data.fingerprint
    for measure, (value, low, high) in ours.rouge.items():
        expected = found.rouge.main_score(measure)
        assert (value, low, high) == (expected.value, expected.low, expected.high)


def test_explain_needs_exported_graphs(kept_run):
    _, folder, _ = kept_run
    row = ExperimentModel(folder, torch.device("cpu"))
    summarizer = row.system("gigaword").summarizer
    assert isinstance(summarizer, Summarizer)
    with pytest.raises(ConfigError, match="explain: only supported with exported graphs"):
        summarizer.summarize("The town closed its bridge.", explain=True)


def test_item_scores_have_the_mean_of_the_score(kept_run):
    result, _, _ = kept_run
    for scored in result.sets.values():
        means = scored.text_scores().mean(axis=0)
        values = [value for value, _, _ in scored.rouge.values()]
        np.testing.assert_allclose(means, values, atol=0.02)


def test_result_describes_the_training(kept_run):
    result, _, _ = kept_run
    assert result.run["train"]["epochs"] == 2
    assert result.training["updates"] > 0
    assert result.parameters > 10_000
    assert result.machine["device_type"] == "cpu"
    assert result.seconds > 0


def test_result_has_the_validation_losses_by_epoch(kept_run):
    """The loss on the split that selects the checkpoint, as evidence of convergence."""
    result, folder, _ = kept_run
    lines = (folder / "metrics.jsonl").read_text().splitlines()
    logged = [line for line in map(json.loads, lines) if "dev_loss" in line]
    losses = result.training["curve"]["dev_loss"]
    assert [epoch for epoch, _ in losses] == pytest.approx([1, 2])
    assert [loss for _, loss in losses] == [round(line["dev_loss"], 4) for line in logged]
    assert min(loss for _, loss in losses) == round(result.training["best"]["dev_loss"], 4)


def test_result_without_git_has_a_hash_of_the_source(kept_run, monkeypatch):
    result, _, _ = kept_run
    assert result.machine["commit"] == (package_commit() or source_hash())
    monkeypatch.setattr("shutil.which", lambda name: None)
    assert _describe_machine(torch.device("cpu"))["commit"] == source_hash()


def test_importance_is_measured_for_read_again(reproduced):
    out, _ = reproduced
    found = {result.row: result.importance for result in read_results(out)}
    assert found["prefix"] is None
    assert found["read_again_gru_15k"]["kind"] == "weight"
    assert found[COPY]["kind"] == "movement"
    for measured in (found["read_again_gru_15k"], found["two_sentences_option2_copy_15k"]):
        content = measured["classes"]["content"]["words"]
        assert 0 < measured["parts"]["noun"]["words"] < content
        assert sum(part["words"] for part in measured["parts"].values()) <= content
        gap = measured["content_over_function"]
        assert gap["low"] <= gap["mean"] <= gap["high"]
        for sample in measured["samples"]:
            assert len(sample["words"]) == len(sample["weights"])


def test_importance_samples_are_relative_movements(kept_run):
    _, folder, corpora = kept_run
    row = ExperimentModel(folder, torch.device("cpu"))
    data = read_dataset(corpora / "invented", CorpusReadOptions())
    measured = measure_importance(row, data)
    assert measured["texts"] == len(data.rows)
    shares = [weight for sample in measured["samples"] for weight in sample["weights"]]
    assert max(shares) == 1.0  # the largest move of a text is the measure of the others
    assert min(shares) >= 0.0


def test_paper_inputs_are_summarized(reproduced):
    out, _ = reproduced
    found = {result.row: result.examples for result in read_results(out)}
    assert found["prefix"] is None
    for row in (COPY, "read_again_lstm_15k", "two_sentences_option2_copy_15k"):
        assert [example["word"] for example in found[row]] == [
            example.word for example in PAPER_EXAMPLES
        ]
        assert all(example["summary"] for example in found[row])
    assert all(example["neighbours"] for example in found[COPY][:5])
    # The last input has the word in its second sentence, which only some networks read.
    assert "zeebrugge" not in found[COPY][5]["neighbours"]
    assert "zeebrugge" in found["two_sentences_option2_copy_15k"][5]["neighbours"]
    assert not any(example["neighbours"] for example in found["read_again_lstm_15k"])
    words = {word for example in found[COPY] for word in example["neighbours"]}
    assert all(any(map(str.isalpha, word)) for word in words)


def test_neighbours_are_nearest_embeddings(kept_run):
    _, folder, _ = kept_run
    model = ExperimentModel(folder, torch.device("cpu"))
    words = ["refit", "tuesday", "absent", "refit"]
    found = model.copy_neighbours(PAPER_EXAMPLES[4].text, words, num_neighbours=3)
    assert list(found) == ["refit", "tuesday"]
    assert model.copy_neighbours(PAPER_EXAMPLES[4].text, ["absent"], num_neighbours=3) == {}
    vectors = model.step_model.model.previous_words.embedding.weight.detach()
    reader = SourceReader(model.run, model.model_dir.source_vocab, model.model_dir.vocab)
    batch = reader.batch([reader.read(PAPER_EXAMPLES[4].text, tokenized=True)])
    states = torch.as_tensor(model.step_model.states(batch))
    p = model.step_model.model.previous_words.embed_positions(states)[0, 4]
    for word, cosine in found["refit"]:
        vector = vectors[model.model_dir.vocab.ids([word])[0]]
        assert torch.cosine_similarity(p, vector, dim=0).item() == pytest.approx(cosine, abs=1e-3)
    others = [torch.cosine_similarity(p, vector, dim=0).item() for vector in vectors[4:]]
    assert found["refit"][0][1] == pytest.approx(max(others), abs=1e-3)


def test_results_have_no_text_of_the_corpus(reproduced):
    out, _ = reproduced
    texts = out / "work" / "corpora" / "invented" / "dev.texts.jsonl"
    towns = {json.loads(line)["headline"].split()[0] for line in texts.read_text().splitlines()}
    # Words of the vocabulary are in summaries of the paper's inputs and among neighbours.
    results = [asdict(replace(result, examples=None)) for result in read_results(out)]
    written = json.dumps(results).lower()
    assert not [town for town in towns if town.lower() in written]
    copied = gzip.decompress(
        (out / "summaries" / "prefix/untrained-seed1.jsonl.gz").read_bytes()
    ).decode()
    assert any(town in copied for town in towns)


def test_summaries_file_has_a_summary_per_text(reproduced, read_summaries):
    out, _ = reproduced
    for result in read_results(out):
        summaries = read_summaries(out / "summaries" / f"{result.run_name}.jsonl.gz")
        assert {name: len(texts) for name, texts in summaries.items()} == {
            name: len(scored.text_scores()) for name, scored in result.sets.items()
        }


def test_two_sentence_experiments_use_texts_with_two_sentences(reproduced):
    out, _ = reproduced
    sets = {result.row: list(result.sets) for result in read_results(out)}
    assert sets["two_sentences_option2_copy_15k"] == ["invented, 2 sentences", "invented-duc"]
    assert sets[COPY] == ["invented", "invented-duc"]


def test_report_is_written_from_results_alone(reproduced, tmp_path):
    out, _ = reproduced
    copied = tmp_path / "elsewhere"
    for path in (out / "rows").rglob("*.json"):
        target = copied / path.relative_to(out)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(path.read_bytes())
    assert write_report(copied) == []
    names = ("table1", "table2", "table3", "table4", "table5", "importance", "ablations")
    for name in names:
        assert (copied / "tables" / f"{name}.csv").stat().st_size > 100
    assert (copied / "tables" / "table3.png").read_bytes().startswith(b"\x89PNG")
    page = (copied / "results.md").read_text()
    assert "Plots show the recipe with the most rows;" in page
    assert "](tables/table1.png)" in page
    assert "**Small scale**" in page


def test_report_without_matplotlib_has_no_plots(reproduced, tmp_path, monkeypatch):
    def missing(*_):
        raise MissingExtraError("drawing needs the package 'matplotlib'")

    out, _ = reproduced
    monkeypatch.setattr(report, "plot_tables", missing)
    (tmp_path / "rows").symlink_to(out / "rows")
    assert write_report(tmp_path) == ["no plots: drawing needs the package 'matplotlib'"]
    assert (tmp_path / "results.md").exists()


def test_report_without_results_is_an_error(tmp_path):
    with pytest.raises(DataError, match="no results; run some experiments, or copy"):
        write_report(tmp_path)
