import json

import pytest

from readagain.cli.main import main
from readagain.corpus.shards import PreparedCorpus

PAIRS = [
    ("The harbour of Norrvik opened on Monday. Ships came at dawn.", "Norrvik opens its harbour"),
    ("A storm closed 12 schools in Eastmoor, officials said.", "Storm closes 12 Eastmoor schools"),
    ("Will the mayor of Tarn stand again? He will not say.", "Will Tarn's mayor stand again?"),
]


@pytest.fixture
def pairs(tmp_path):
    path = tmp_path / "pairs.jsonl"
    lines = [json.dumps({"text": text, "headline": headline}) for text, headline in PAIRS]
    path.write_text("\n".join(lines) + "\n")
    return path


def run(*arguments):
    """Run `readagain prepare` in this process with one worker; return its exit status."""
    with pytest.raises(SystemExit) as stopped:
        main(["prepare", "--workers", "1", *map(str, arguments)])
    return stopped.value.code


def test_prepare_prints_kept_and_dropped_pairs(tmp_path, pairs, capsys):
    assert run(pairs, "--out", tmp_path / "out", "--filters", "rush") == 0
    shown = capsys.readouterr()
    assert "train            2 pairs" in shown.out
    assert "dropped 1 of 3 records" in shown.out
    assert "question                 1  a question mark in the headline" in shown.out
    assert f"{tmp_path / 'out'}: ready, see report.md in it" in shown.out
    assert f"{pairs}: jsonl, 'text' and 'headline', for train" in shown.err


def test_prepare_uses_singular_for_one_pair(tmp_path, capsys):
    path = tmp_path / "one.jsonl"
    path.write_text(
        '{"text": "The ferry was late.", "headline": "Ferry late again"}\n', encoding="utf-8"
    )
    assert run(path, "--out", tmp_path / "out") == 0
    shown = capsys.readouterr()
    assert "1 pair " in shown.out
    assert "dropped 0 of 1 record\n" in shown.out


def test_prepare_uses_its_options(tmp_path, pairs):
    out = tmp_path / "out"
    options = ["--max-sentences", "1", "--min-headline-words", "5", "--min-overlap", "0.5"]
    assert run(pairs, "--out", out, *options, "--filters", "length,low-overlap") == 0
    settings = PreparedCorpus.open(out).manifest.settings
    assert settings["max_sentences"] == 1
    assert settings["limits"]["min_headline_words"] == 5
    assert settings["limits"]["min_overlap"] == 0.5
    assert settings["filters"] == ["length", "low-overlap"]


def test_split_is_given_or_split_off(tmp_path, pairs):
    run(pairs, "--out", tmp_path / "cut", "--dev-pairs", "1")
    assert len(PreparedCorpus.open(tmp_path / "cut").split("dev")) == 1
    run("--dev", pairs, "--out", tmp_path / "given")
    assert len(PreparedCorpus.open(tmp_path / "given").split("dev")) == 3


def test_report_shows_lengths_coverage_and_samples(tmp_path, pairs):
    run(pairs, "--out", tmp_path / "out")
    page = (tmp_path / "out" / "report.md").read_text()
    assert "| 2,000 | 100.00% | 100.00% |" in page
    assert "Words of a headline: mean 5.33, median 5" in page
    assert "=> norrvik opens its harbour" in page
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    assert report["statistics"]["train"]["sentences_per_text"]["counts"] == [0, 1, 2]


def test_interrupted_prepare_prints_how_to_resume(tmp_path, pairs, capsys, monkeypatch):
    def interrupt(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr("readagain.corpus.workers.save_chunk", interrupt)
    assert run(pairs, "--out", tmp_path / "out") == 130
    assert "interrupted; run the same command to resume" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "INPUT: missing; name files or folders of pairs"),
        (
            ("PAIRS", "--dev", "PAIRS", "--dev-share", "0.1"),
            "--dev: conflicts with --dev-pairs and --dev-share",
        ),
        (("PAIRS", "--filters", "rash"), "no filter 'rash'"),
        (("PAIRS", "--format", "jason"), "unknown format 'jason'"),
        (("absent.jsonl",), "absent.jsonl: no such file or folder"),
        (("PAIRS", "--text-column", "body"), "no column 'body'; set the text column"),
        (("PAIRS", "--workers", "-1"), "--workers is -1; expected 0 or more"),
    ],
)
def test_invalid_input_is_one_line_and_status_2(tmp_path, pairs, capsys, arguments, message):
    arguments = [pairs if argument == "PAIRS" else argument for argument in arguments]
    assert run(*arguments, "--out", tmp_path / "out") == 2
    shown = capsys.readouterr()
    assert shown.err.startswith("readagain: ")
    assert message in shown.err
    assert shown.err.count("\n") == 1
    assert not (tmp_path / "out").exists()
