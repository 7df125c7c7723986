"""The command `readagain explain`."""

import json
from pathlib import Path

import pytest

TOY = Path(__file__).parents[2] / "assets" / "models" / "toy"
POLICE = "Police in Ghent said on Monday that 12 people crossed the old bridge."
STRANGE = 'Police <script>alert("1")</script> said 🎉 مدينة غنت & 12 people.'


@pytest.fixture
def explain(readagain, tmp_path):
    """Run the command with the toy model in an empty folder."""

    def run(*arguments, **options):
        model = ("--model", TOY, "--threads", 1)
        return readagain("explain", *model, *arguments, cwd=tmp_path, **options)

    return run


def test_explain_prints_plain_text_without_terminal(explain, readagain):
    done = explain(POLICE)
    assert (done.returncode, done.stderr) == (0, "")
    headline = readagain("summarize", "--model", TOY, "--threads", 1, POLICE).stdout
    assert done.stdout.splitlines()[0] == headline.rstrip("\n")
    assert "Most attended:" in done.stdout
    assert "\x1b" not in done.stdout


def test_encoding_option_is_used(explain, tmp_path):
    (tmp_path / "latin.txt").write_bytes("Élan was late.".encode("latin-1"))
    assert "set --encoding (for example cp1252)" in explain("latin.txt").stderr
    assert "Élan was late." in explain("latin.txt", "--encoding", "latin-1").stdout


def test_forced_prefix_is_marked_as_given(explain):
    done = explain(POLICE, "--begin", "Blorb say")
    assert done.stdout.startswith("Blorb say ")
    words_with_origin = [line.split()[:2] for line in done.stdout.splitlines()]
    assert ["Blorb", "given"] in words_with_origin
    assert ["say", "given"] in words_with_origin


def test_style_is_passed_to_the_model(explain):
    done = explain(POLICE, "--style", "loose")
    assert done.returncode == 2
    assert done.stderr == "readagain: --style is 'loose'; this model has no styles\n"


def test_text_file_and_pipe_give_equal_output(explain, tmp_path):
    (tmp_path / "police.txt").write_text(POLICE)
    expected = explain(POLICE).stdout
    assert explain("police.txt").stdout == expected
    assert explain("-", input=POLICE).stdout == expected
    assert explain(input=POLICE).stdout == expected


def test_json_is_one_object(explain, tmp_path):
    done = explain(POLICE, "--json", "--html", "x.html")
    plain = json.loads(done.stdout)
    assert done.stderr == "x.html: written\n"
    assert plain["model"] == "toy"
    assert plain["importance_kind"] == "weight"
    for word in plain["source"]:
        assert POLICE[word["start"] : word["end"]] == word["surface"]
    for word in plain["words"]:
        assert plain["summary"][word["start"] : word["end"]] == word["surface"]
        assert sum(word["attention"]) == pytest.approx(1.0, abs=1e-4)
    copied = [word for word in plain["words"] if word["origin"] == "copied"]
    assert copied
    for word in copied:
        assert plain["source"][word["source"]]["surface"].lower() == word["surface"].lower()


def test_html_page_is_written(explain, tmp_path):
    done = explain(STRANGE, "--html", "strange.html")
    assert (done.returncode, done.stdout) == (0, "")
    page = (tmp_path / "strange.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert page.endswith("</html>\n")
    assert page.count("<script") == 2
    assert json.dumps("مدينة")[1:-1] in page
    assert [path.name for path in tmp_path.iterdir()] == ["strange.html"]


@pytest.mark.parametrize("option", ["--html", "--png"])
def test_existing_file_is_replaced_only_on_request(explain, tmp_path, option):
    path = tmp_path / "out.svg"
    path.write_text("old")
    done = explain(POLICE, option, "out.svg")
    assert done.returncode == 2
    assert done.stderr == (
        "readagain: out.svg: exists already; name another file, or replace it with --overwrite\n"
    )
    assert path.read_text() == "old"
    assert explain(POLICE, "--html", "out.svg", "--overwrite").returncode == 0
    assert path.read_text() != "old"


def test_overwrite_needs_a_file(explain):
    done = explain(POLICE, "--overwrite")
    assert done.returncode == 2
    assert done.stderr == ("readagain: --overwrite: needs --html or --png; name a file to write\n")


def test_percentages_have_one_form(explain):
    shown = explain(POLICE).stdout
    assert "%" in shown
    assert " %" not in shown


@pytest.mark.needs_extras
def test_image_is_written(explain, tmp_path):
    done = explain(STRANGE, "--png", "strange.png")
    assert (done.returncode, done.stderr) == (0, "strange.png: written\n")
    assert (tmp_path / "strange.png").read_bytes().startswith(b"\x89PNG")


def test_max_words_is_respected(explain):
    assert len(json.loads(explain(POLICE, "--json", "--max-words", 2).stdout)["words"]) == 2


def test_undecodable_argument_is_explained(explain, tmp_path):
    done = explain(b"Police in Ghent saw \xff ferries.".decode(errors="surrogateescape"), "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["text"] == "Police in Ghent saw \udcff ferries."


def test_json_escapes_control_characters(explain):
    text = "Police in Ghent\u202e crossed \x9bthe \u2066old\u2069 bridge\u200f."
    done = explain(text, "--json")
    assert not set("\u202e\x9b\u2066\u2069\u200f") & set(done.stdout)
    assert json.loads(done.stdout)["text"] == text


@pytest.mark.parametrize("text", ["", "  ", "…", "?! 🎉"])
def test_text_without_words_is_refused(explain, text, tmp_path):
    done = explain(text, "--html", "x.html")
    assert done.returncode == 2
    assert done.stderr.startswith("readagain: the text: no words to explain")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["missing.txt"], "missing.txt: no such file"),
        (["empty.txt"], "empty.txt: no words to explain"),
        (["."], ".: is a folder; name its files"),
        (["two.jsonl"], "two.jsonl: contains several texts; expected one"),
        (["none.jsonl"], "none.jsonl: contains no text; expected one"),
        (
            [POLICE, "--html", "nowhere/x.html"],
            "the folder 'nowhere' does not exist",
        ),
        ([POLICE, "--html", "folder"], "folder: is a folder; name a file to write"),
        (
            [POLICE, "--png", "x.gif"],
            "x.gif: unknown plot format; expected a name that ends in .png, .svg, .pdf",
        ),
    ],
)
def test_invalid_input_is_one_line_and_status_2(explain, tmp_path, arguments, message):
    (tmp_path / "empty.txt").write_text("")
    (tmp_path / "two.jsonl").write_text(f"{json.dumps({'text': POLICE})}\n" * 2)
    (tmp_path / "none.jsonl").write_text("")
    (tmp_path / "folder").mkdir()
    done = explain(*arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not list(tmp_path.glob("**/*.part"))
