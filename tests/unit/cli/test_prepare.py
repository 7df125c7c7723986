"""The command `readagain prepare`."""

import json
from pathlib import Path

import pytest
from discs import agiga_document, write_annotated_gigaword, write_month

from readagain.cli.main import main
from readagain.cli.prepare import _print_inputs
from readagain.corpus.inputs import CorpusInput
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


def test_annotated_gigaword_is_prepared_as_published(tmp_path, capsys):
    disc, out = write_annotated_gigaword(tmp_path / "disc"), tmp_path / "out"
    options = ["--filters", "rush2015", "--split-by", "month", "--min-count", "5"]
    assert run(disc, *options, "--sample", "8", "--out", out) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "not-sampled 24 not in the random sample of its split" in shown
    assert "empty 4 text or headline without a word" in shown
    corpus = PreparedCorpus.open(out)
    assert [len(corpus.split(split)) for split in ("train", "dev", "test")] == [40, 8, 8]
    sentences, headline = corpus.split("train")[0]
    assert corpus.lexicon.decode(headline) == "norrvik opens new harbour <unk> officials say"
    assert corpus.lexicon.decode(sentences[0]).endswith(
        "harbour <unk> on monday , officials said ."
    )
    assert corpus.lexicon.decode(sentences[1]) == "ships will come to norrvik in # days ."
    example = next(iter(corpus.texts("dev")))
    assert example.text.startswith("the town of ")
    assert "\nships will come to " in example.text


def test_rare_words_become_unk(tmp_path):
    for split in ("train", "valid"):
        (tmp_path / f"{split}.article.txt").write_text(
            "the town of tarn paid 12 times .\nthe town of eastmoor paid 34 times .\n"
        )
        titles = "tarn pays\neastmoor pays\n" if split == "train" else "tarn pays\ntarn pays\n"
        (tmp_path / f"{split}.title.txt").write_text(titles)
    dev = tmp_path / "valid.article.txt"
    out, options = tmp_path / "out", ["--filters", "none", "--min-count", "2"]
    # A text in dev is dropped from train, so the dev set differs by a word.
    dev.write_text(dev.read_text().replace("times", "often"))
    assert run(tmp_path, "--dev", dev, *options, "--out", out) == 0
    corpus = PreparedCorpus.open(out)
    [sentence], headline = corpus.split("train")[0]
    assert corpus.lexicon.decode(sentence) == "the town of <unk> paid ## times ."
    assert corpus.lexicon.decode(headline) == "<unk> pays"
    assert corpus.lexicon.vocab("summary", 100).words[4:] == ("pays",)
    first = next(iter(corpus.texts("dev")))
    assert (first.text, first.headline) == ("the town of <unk> paid 12 <unk> .", "<unk> pays")


def test_many_inputs_of_a_folder_are_one_line(tmp_path, capsys):
    folder = tmp_path / "months"
    document = agiga_document(1, "Tarn opens bridge", ["The town of Tarn opened a bridge ."])
    for month in range(1, 13):
        for year in (1995, 1996):
            write_month(folder, f"nyt_eng_{year}{month:02d}", document)
    assert run(folder, "--split-by", "month", "--filters", "none", "--out", tmp_path / "out") == 2
    shown = capsys.readouterr().err
    assert f"{folder}: agiga, 24 files: 22 for train, 1 for dev, 1 for test" in shown


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
        (("PAIRS", "--text-column", "body"), "no column 'body'; set --text-column"),
        (
            ("PAIRS", "--split-by", "month", "--dev-pairs", "9"),
            "--split-by: sets the dev and test splits; remove the other options that set them",
        ),
        (("PAIRS", "--split-by", "month"), "no month of Annotated Gigaword in this name"),
        (("PAIRS", "--sample", "-1"), "--sample is -1; expected 0 or more"),
        (("PAIRS", "--min-count", "0"), "--min-count is 0; expected 1 or more"),
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


GERMAN = [
    (
        f"Der {n}. Bericht der Stadt über die Gebühren für den Müll liegt vor.",
        f"Bericht {n} liegt vor",
    )
    for n in range(1, 13)
]


def write_pairs(path, pairs):
    lines = [json.dumps({"text": text, "headline": headline}) for text, headline in pairs]
    path.write_text("\n".join(lines) + "\n")
    return path


def test_prepare_detects_the_language(tmp_path, capsys):
    path = write_pairs(tmp_path / "de.jsonl", GERMAN)
    assert run(path, "--out", tmp_path / "out") == 0
    assert "language German (de), detected\n" in capsys.readouterr().out
    assert PreparedCorpus.open(tmp_path / "out").manifest.language == "de"
    assert "Language: German (de)." in (tmp_path / "out" / "report.md").read_text()


def test_prepare_takes_the_given_language(tmp_path, pairs, capsys):
    assert run(pairs, "--out", tmp_path / "out", "--language", "fr") == 0
    assert "language French (fr)\n" in capsys.readouterr().out
    assert PreparedCorpus.open(tmp_path / "out").manifest.language == "fr"


def test_prepare_rejects_an_unknown_language(tmp_path, pairs, capsys):
    assert run(pairs, "--out", tmp_path / "out", "--language", "deutsch") == 2
    assert "language is 'deutsch'; " in capsys.readouterr().err


def test_prepare_states_that_the_language_is_unknown(tmp_path, capsys):
    path = write_pairs(tmp_path / "x.jsonl", [("qwe rty uio pas dfg", "qwe rty")])
    assert run(path, "--out", tmp_path / "out") == 0
    shown = capsys.readouterr().out
    assert "language an unknown language (und): not detected; set --language" in shown


def test_prepare_keeps_pairs_that_differ_only_in_digits(tmp_path, capsys):
    path = write_pairs(tmp_path / "de.jsonl", GERMAN)
    assert run(path, "--out", tmp_path / "out") == 0
    assert "dropped 0 of 12 records" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("language", "text", "headline", "words"),
    [
        (
            "zh",
            "市长周一表示，市政府提高了垃圾处理费。居民对此不满。",
            "市政府提高垃圾费",
            "市 政 府",
        ),
        (
            "ja",
            "市は月曜日、ごみ処理の料金を引き上げた。住民は反対した。",
            "市がごみ料金を値上げ",
            "市 が ご",
        ),
        (
            "ru",
            "Город повысил плату за вывоз мусора, и мэр на это не ответил.",
            "Плата выросла",
            "плата",
        ),
    ],
)
def test_prepare_keeps_pairs_of_other_scripts(tmp_path, capsys, language, text, headline, words):
    path = write_pairs(tmp_path / "x.jsonl", [(text, headline)])
    assert run(path, "--out", tmp_path / "out") == 0
    shown = capsys.readouterr().out
    assert f"({language}), detected" in shown
    assert "dropped 0 of 1 record" in shown
    corpus = PreparedCorpus.open(tmp_path / "out")
    assert corpus.lexicon.decode(corpus.split("train")[0][1]).startswith(words)


def test_inputs_are_printed_without_control_characters(tmp_path, capsys):
    source = CorpusInput(format="jsonl", paths=(Path("a\n  \x1b[31m\u202eb.jsonl"),), origin="a")
    _print_inputs([source])
    assert capsys.readouterr().err == "a\ufffd  \ufffd[31m\ufffdb.jsonl: jsonl, for train\n"
