"""`readagain rouge`: output, options and errors."""

import json

import pytest


@pytest.fixture
def files(tmp_path):
    contents = {
        "hyp.txt": "police kill the gunman\nthe mice went home\n",
        "other.txt": "gunman\nhome\n",
        "ref.txt": "police killed the gunman\na mouse goes home\n",
        "ref2.txt": "the gunman was shot\nmice at home\n",
        "short.txt": "one line\n",
        "holes.txt": "a\n\n",
        "latin.txt": b"caf\xe9\nb\n",
        "empty.txt": "",
        "long.txt": "police kill<q>the gunman\nthe mice<q>went home\n",
    }
    for name, content in contents.items():
        encoded = content if isinstance(content, bytes) else content.encode()
        (tmp_path / name).write_bytes(encoded)
    return tmp_path


@pytest.fixture
def rouge(readagain, files):
    def rouge(*arguments):
        return readagain("rouge", *arguments, cwd=files)

    return rouge


@pytest.fixture
def scores(rouge):
    def scores(*arguments):
        done = rouge(*arguments, "--json")
        assert (done.returncode, done.stderr) == (0, "")
        return json.loads(done.stdout)

    return scores


def test_json_has_documented_fields(scores):
    found = scores("hyp.txt", "ref.txt", "--protocol", "gigaword")
    assert list(found) == ["rouge-1", "rouge-2", "rouge-l", "options", "items", "fingerprint"]
    assert list(found["rouge-l"]) == ["recall", "precision", "f1", "low", "high"]
    assert found["items"] == 2
    assert len(found["fingerprint"]) == 64
    assert found["options"] == "-n 2 -m -c 95 -r 1000 -f A -p 0.5 -t 0"


def test_several_references_are_pooled(scores):
    one = scores("hyp.txt", "ref.txt", "--protocol", "duc2004")
    two = scores("hyp.txt", "ref.txt", "ref2.txt", "--protocol", "duc2004")
    assert two["rouge-1"]["recall"] < one["rouge-1"]["recall"]
    assert two["fingerprint"] != one["fingerprint"]


def test_table_shows_scores_intervals_and_options(rouge, scores):
    done = rouge("hyp.txt", "ref.txt", "--protocol", "duc2003")
    expected = scores("hyp.txt", "ref.txt", "--protocol", "duc2003")
    assert done.returncode == 0
    for measure in ("rouge-1", "rouge-2", "rouge-l"):
        [row] = [line for line in done.stdout.splitlines() if measure.upper() in line]
        for figure in ("recall", "precision", "f1", "low", "high"):
            assert f"{100 * expected[measure][figure]:.3f}" in row
    assert expected["options"] in done.stdout
    assert expected["fingerprint"] in done.stdout


def test_options_work_without_protocol(scores):
    found = scores(
        *("hyp.txt", "ref.txt", "ref2.txt", "--max-ngram", "3", "--stem", "--max-bytes", "30"),
        *("--pooling", "best", "--samples", "20", "--confidence", "90"),
    )
    assert list(found)[:4] == ["rouge-1", "rouge-2", "rouge-3", "rouge-l"]
    assert found["options"] == "-n 3 -m -b 30 -c 90 -r 20 -f B -p 0.5 -t 0"


def test_rouge_l_can_be_disabled(scores):
    found = scores(
        *("hyp.txt", "ref.txt", "--no-rouge-l", "--max-words", "3"),
        *("--main-score", "precision"),
    )
    assert "rouge-l" not in found
    assert found["options"] == "-n 2 -x -l 3 -c 95 -r 1000 -f A -p 0.5 -t 0"


def test_sentence_break_splits_sentences(scores):
    whole = scores("hyp.txt", "ref.txt", "--samples", "10")
    split = scores("long.txt", "ref.txt", "--samples", "10", "--sentence-break", "<q>")
    assert split["rouge-1"] == whole["rouge-1"]
    assert split["fingerprint"] != whole["fingerprint"]


def test_compare_tests_two_systems(rouge, scores):
    arguments = ("hyp.txt", "ref.txt", "--protocol", "duc2004", "--compare", "other.txt")
    found = scores(*arguments)
    comparison = found["comparison"]["rouge-1"]
    lead = found["rouge-1"]["recall"] - found["other"]["rouge-1"]["recall"]
    assert comparison["difference"] == pytest.approx(lead, abs=0.02)  # mean of samples or items
    assert 0 < comparison["p_bootstrap"] <= 1
    assert 0 < comparison["p_randomization"] <= 1
    table = rouge(*arguments).stdout
    assert "recall: hyp.txt minus other.txt" in table
    assert f"{comparison['p_randomization']:.4f}" in table


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["hyp.txt", "short.txt"], "line counts differ: hyp.txt has 2, short.txt has 1; expected"),
        (["hyp.txt", "ref.txt", "--compare", "short.txt"], "hyp.txt has 2, short.txt has 1"),
        (["hyp.txt", "holes.txt"], "holes.txt:2: empty reference"),
        (["hyp.txt", "latin.txt"], "latin.txt:1: byte 0xe9 is not UTF-8"),
        (["hyp.txt", "absent.txt"], "absent.txt: no such file"),
        (["empty.txt", "ref.txt"], "empty.txt: empty file; expected one text per line"),
        (["hyp.txt", "ref.txt", "--protocol", "gigawords"], "did you mean 'gigaword'?"),
        (
            ["hyp.txt", "ref.txt", "--protocol", "duc2004", "--max-bytes", "9"],
            "--protocol: conflicts with --max-bytes; use",
        ),
        (["hyp.txt", "ref.txt", "--max-bytes", "0"], "--max-bytes is 0; expected 1 or more"),
    ],
)
def test_invalid_input_is_one_line_and_status_2(rouge, arguments, message):
    done = rouge(*arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    [line] = done.stderr.splitlines()
    assert message in line


def test_unicode_words_of_other_languages_are_scored(files, rouge, scores):
    (files / "de.txt").write_text("Bürger in Köln\n", encoding="utf-8")
    (files / "de-ref.txt").write_text("Börger in Käln\n", encoding="utf-8")
    done = rouge("de.txt", "de-ref.txt")
    assert "warning: ROUGE-1.5.5 compares ASCII letters only" in done.stderr
    assert "100.000" in done.stdout
    found = scores("de.txt", "de-ref.txt", "--unicode")
    assert found["rouge-1"]["f1"] == 0.33333
    assert found == scores("de.txt", "de-ref.txt", "--protocol", "unicode")


def test_unicode_and_stem_conflict(rouge):
    done = rouge("hyp.txt", "ref.txt", "--unicode", "--stem")
    assert done.returncode == 2
    assert "remove --stem or --unicode" in done.stderr
