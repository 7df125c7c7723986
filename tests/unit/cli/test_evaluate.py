"""`readagain evaluate`: output, options and errors."""

import json
import shutil
from pathlib import Path

import pytest

TOY = Path(__file__).parents[2] / "assets" / "models" / "toy"
INPUT = "police in ghent said that 12 people crossed the old bridge .\na storm hit the harbour .\n"


@pytest.fixture
def folder(tmp_path):
    """Folder with a DUC set and with files that have one error each."""
    duc = tmp_path / "duc"
    duc.mkdir()
    (duc / "input.txt").write_text(INPUT)
    (duc / "task1_ref0.txt").write_text("12 people cross old bridge\nStorm hits\n")
    (duc / "task1_ref1.txt").write_text("Bridge crossed\nHarbour has a storm\n")
    for name, titles in {
        "short": b"one\n",
        "holes": b"one\n\n",
        "latin": b"caf\xe9\none\n",
    }.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.article.txt").write_text(INPUT)
        (tmp_path / name / "a.title.txt").write_bytes(titles)
    (tmp_path / "nothing").mkdir()
    return tmp_path


@pytest.fixture
def evaluate(readagain, folder):
    def evaluate(*arguments, data="duc", protocol="duc2003", model="prefix"):
        return readagain(
            *("evaluate", "--model", model, "--data", data, "--protocol", protocol),
            *arguments,
            cwd=folder,
        )

    return evaluate


@pytest.mark.parametrize("model", ["prefix", TOY])
def test_saved_summaries_have_the_same_scores(evaluate, readagain, folder, model):
    done = evaluate("--save", "out.txt", "--json", model=model)
    assert (done.returncode, done.stderr) == (0, "")
    references = [folder / "duc" / f"task1_ref{n}.txt" for n in (0, 1)]
    alone = readagain(
        *("rouge", folder / "out.txt", *references, "--protocol", "duc2003", "--json")
    )
    assert json.loads(alone.stdout) == json.loads(done.stdout)["rouge"]
    assert sorted(file.name for file in folder.glob("out*")) == ["out.txt"]


def test_output_shows_scores_stats_and_metadata(evaluate):
    done = evaluate("--limit", "1")
    assert done.returncode == 0
    for shown in ("ROUGE-L", "interval", "words copied by the system", "-b 75", "SHA-256"):
        assert shown in done.stdout
    assert "rows     1," in done.stdout
    assert "speed" in done.stdout


def test_model_name_with_brackets_is_printed(evaluate, folder):
    shutil.copytree(TOY, folder / "toy[red]")
    assert "toy[red], duc2003" in evaluate("--threads", "1", model="./toy[red]").stdout


def test_json_has_the_output_of_rouge(evaluate):
    found = json.loads(evaluate("--json").stdout)
    assert list(found["rouge"])[:3] == ["rouge-1", "rouge-2", "rouge-l"]
    assert found["protocol"] == "duc2003"
    assert found["data"]["tokenized"] is True


def test_decoding_options_are_applied(evaluate):
    done = evaluate(
        *("--beam", "2", "--max-words", "4", "--threads", "1", "--precision", "float32", "--json"),
        model=TOY,
    )
    found = json.loads(done.stdout)
    assert found["model"]["decode"]["beam_size"] == 2
    assert found["model"]["precision"] == "float32"
    assert found["model"]["threads"] == 1
    assert found["summaries"]["words"] <= 4


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"data": "short"},
            "line counts differ: short/a.article.txt has 2, short/a.title.txt has 1",
        ),
        ({"data": "holes"}, "holes/a.title.txt:2: empty reference"),
        ({"data": "latin"}, "latin/a.title.txt:1: byte 0xe9 at column 4 is not utf-8"),
        ({"data": "absent"}, "absent: no such file or folder"),
        ({"data": "nothing"}, "nothing: no data set in this folder"),
        ({"protocol": "duc2o03"}, "no protocol 'duc2o03'; did you mean 'duc2003'?"),
        ({"model": "nwes"}, "no model 'nwes'"),
        ({"model": "duc"}, "duc: no model.json"),
    ],
)
def test_invalid_input_is_a_one_line_error(evaluate, arguments, message):
    done = evaluate(**arguments)
    assert (done.returncode, done.stdout) == (2, "")
    [line] = done.stderr.splitlines()
    assert message in line


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--limit", "0"], "--limit is 0; expected 1 or more"),
        (["--split", "best"], "--split is 'best'; expected train, dev, test"),
        (["--beam", "3"], "prefix: the baseline has no such option; remove --beam"),
        (["--save", "no/out.txt"], "no/out.txt: the folder 'no' does not exist; create it first"),
        (["--save", "nothing"], "nothing: is a folder; name a file to write"),
        (["--encoding", "klingon"], "--encoding: 'klingon' is unknown"),
    ],
)
def test_invalid_option_is_a_one_line_error(evaluate, arguments, message):
    done = evaluate(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    [line] = done.stderr.splitlines()
    assert message in line


def test_failed_write_leaves_no_file(tmp_path, monkeypatch):
    from readagain.errors import DataError
    from readagain.evaluation.report import write_text

    def fail(self, target):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(DataError, match=r"out\.txt: cannot be written: No space left on device"):
        write_text(tmp_path / "out.txt", "text")
    assert list(tmp_path.iterdir()) == []
