"""From pairs to a scored model with the functions of the package alone."""

import json

import pytest

import readagain
from readagain.errors import ArtifactError, ConfigError

PLACES = ("bridge", "harbour", "library", "museum")
SMALL = (
    "model.embedding_size=8",
    "model.encoder.hidden_size=8",
    "model.decoder.hidden_size=8",
    "model.decoder.attention_size=8",
    "train.batch_size=16",
    "train.epochs=1",
    "train.rouge_pairs=2",
    "decode.beam_size=2",
    "decode.max_words=6",
)


@pytest.fixture
def pairs(tmp_path):
    path = tmp_path / "pairs.jsonl"
    with path.open("w") as file:
        for number in range(40):
            place = PLACES[number % 4]
            text = f"The old {place} of town {number} closed on Monday after {number} years."
            file.write(json.dumps({"text": text, "headline": f"Old {place} closes"}) + "\n")
    return path


def test_pairs_become_a_scored_model(pairs, tmp_path):
    corpus, run, model = tmp_path / "corpus", tmp_path / "run", tmp_path / "model"
    manifest = readagain.prepare(pairs, corpus, dev_pairs=8, workers=1)
    assert sum(counts["pairs"] for counts in manifest.splits.values()) == 40
    result = readagain.train("tiny", data=corpus, out=run, changes=SMALL, device="cpu", threads=1)
    assert result.is_finished
    exported = readagain.export_model(
        run, model, precision="float32", check_on=corpus, check_texts=4, threads=1
    )
    assert (exported.path, set(exported.num_bytes)) == (model, {"float32"})
    evaluation = readagain.evaluate(model, corpus, limit=3, threads=1)
    summaries = [summary.text for summary in evaluation.summaries]
    texts = [row.text for row in evaluation.data.rows]
    summarizer = readagain.Summarizer.load(model, threads=1)
    assert len(summaries) == len(summarizer.summarize(texts)) == 3
    references = [row.references for row in evaluation.data.rows]
    again = readagain.compute_rouge(summaries, references)
    assert again.as_json() == evaluation.rouge.as_json()


def test_names_are_checked_before_the_data_is_read(tmp_path):
    with pytest.raises(ArtifactError, match="no model 'nwes'.*; baselines: "):
        readagain.evaluate("nwes", tmp_path / "missing")
    with pytest.raises(ConfigError, match="no protocol 'duc'"):
        readagain.evaluate("lead", tmp_path / "missing", protocol="duc")


def test_rouge_accepts_one_reference_per_summary():
    report = readagain.compute_rouge(["the cat sat"], ["a cat sat down"])
    assert report["rouge-1"].precision.value == pytest.approx(2 / 3, abs=1e-4)


def test_arguments_are_named_as_in_python(pairs, tmp_path):
    with pytest.raises(ConfigError, match="dev: conflicts with dev_pairs and dev_share"):
        readagain.prepare(pairs, tmp_path / "out", dev=pairs, dev_pairs=3)
    with pytest.raises(ConfigError, match="split_by: sets the dev and test splits; remove"):
        readagain.prepare(pairs, tmp_path / "out", split_by="month", dev_pairs=3)
    with pytest.raises(ConfigError, match="workers is -1; expected 0 or more"):
        readagain.prepare(pairs, tmp_path / "out", workers=-1)
    with pytest.raises(ConfigError, match="workers is 9999; expected 1 to "):
        readagain.prepare(pairs, tmp_path / "out", workers=9999)
    with pytest.raises(ConfigError, match="precision is 'int4'; expected int8, float32 or both"):
        readagain.export_model(tmp_path, precision="int4")


@pytest.mark.parametrize("name", [name for name in dir(readagain) if name != "__version__"])
def test_public_names_have_docstrings(name):
    assert getattr(readagain, name).__doc__
