"""`readagain tune`: output, options and errors."""

import re
from pathlib import Path

import pytest

from readagain.model_dir import ModelDir

TOY = Path(__file__).parents[2] / "assets" / "models" / "toy"


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "pairs.jsonl"
    path.write_text(
        '{"text": "Police in Ghent said 12 people crossed.", "headline": "12 people cross"}\n'
        '{"text": "A storm hit the harbour.", "headline": "Storm hits harbour"}\n'
    )
    return path


@pytest.fixture
def tune(readagain, data):
    def tune(*arguments, model=TOY):
        return readagain(
            *("tune", model, "--data", data, "--protocol", "gigaword", "--threads", "1"),
            *arguments,
        )

    return tune


def test_tune_prints_rounds_and_settings(tune, tmp_path):
    out = tmp_path / "tuned"
    done = tune("--rounds", "3", "--beam", "3", "--limit", "2", "--out", out)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert [line.partition("=")[0] for line in lines[:5]] == [
        "--set decode.unigram_bonus",
        "--set decode.bigram_bonus",
        "--set decode.trigram_bonus",
        "--set decode.reordering_bonus",
        "--set decode.consensus",
    ]
    assert done.stderr.startswith("round 1: rouge-1 ")
    assert re.search(r"; (\d+) new summaries, \1 so far$", done.stderr.splitlines()[0])
    decode = ModelDir.open(out).run.decode
    assert f"--set decode.unigram_bonus={decode.unigram_bonus:g}" == lines[0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--rounds", "0"], "--rounds is 0; expected 1 or more"),
        (["--objective", "bleu"], "--objective is 'bleu'; expected rouge-1"),
        (["--limit", "0"], "--limit is 0; expected 1 or more"),
        (["--out", TOY], "exists already; name a new folder"),
    ],
)
def test_invalid_option_is_a_one_line_error(tune, arguments, message):
    done = tune(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    [line] = done.stderr.splitlines()
    assert message in line


def test_tune_rejects_baselines(readagain, data):
    done = readagain("tune", "lead", "--data", data, "--protocol", "gigaword")
    assert (done.returncode, done.stderr) == (
        2,
        "readagain: lead: no beam search; choose a bundled model or a model directory\n",
    )
