"""The command `readagain summarize`."""

import json
import os
import signal
import subprocess
import sys
import threading
from functools import partial
from pathlib import Path

import pytest

TOY = Path(__file__).parents[2] / "assets" / "models" / "toy"
POLICE = "Police in Ghent said on Monday that 12 people crossed the old bridge."
FERRY = "A storm hit the harbour, and the ferry was late by 30 percent."


@pytest.fixture
def summarize(readagain, tmp_path):
    """Run the command with the toy model in an empty folder."""

    def run(*arguments, **options):
        model = () if "--model" in arguments else ("--model", TOY)
        return readagain("summarize", *model, "--threads", 1, *arguments, cwd=tmp_path, **options)

    return run


@pytest.fixture
def headlines(summarize):
    """Return the headlines of the toy model for both texts."""
    done = summarize(POLICE, FERRY)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_texts_on_the_command_line(headlines):
    assert len(headlines) == 2
    assert "Ghent" in headlines[0]
    assert all(headline[0].isupper() for headline in headlines)


def test_control_characters_are_replaced_on_a_terminal(tmp_path):
    (tmp_path / "text.txt").write_text("Police in \x1b[2JGhent\u202e crossed the old bridge.")
    command = [sys.executable, "-m", "readagain", "summarize", "--model", TOY, "text.txt"]
    terminal, terminal_of_command = os.openpty()
    subprocess.run(command, stdout=terminal_of_command, cwd=tmp_path, check=True)
    os.close(terminal_of_command)
    shown = os.read(terminal, 10_000).decode()
    os.close(terminal)
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert "\N{REPLACEMENT CHARACTER}" in shown
    piped = subprocess.run(command, capture_output=True, cwd=tmp_path, check=True)
    assert b"\x1b" in piped.stdout  # a pipe gets the text unchanged


def test_json_on_a_terminal_is_lossless(tmp_path):
    record = {"text": "Police in \x1b[2JGhent\u202e crossed \x9bthe old bridge.", "n": "\u2028\x7f"}
    (tmp_path / "texts.jsonl").write_text(json.dumps(record))
    command = [sys.executable, "-m", "readagain", "summarize", "--model", TOY, "texts.jsonl"]
    terminal, terminal_of_command = os.openpty()
    subprocess.run([*command, "--json"], stdout=terminal_of_command, cwd=tmp_path, check=True)
    os.close(terminal_of_command)
    shown = os.read(terminal, 10_000).decode()
    os.close(terminal)
    assert all(character.isprintable() for line in shown.split("\r\n") for character in line)
    written = json.loads(shown)
    assert {name: written[name] for name in record} == record


def test_text_may_contain_dots_and_slashes(summarize):
    done = summarize("Police in Ghent said 2.5 km/h was too slow for the U.S. ferry")
    assert done.returncode == 0
    assert done.stdout


def test_text_file_is_one_text(summarize, headlines, tmp_path):
    (tmp_path / "article.txt").write_text(f"{POLICE}\n\n{FERRY}\n")
    assert summarize("article.txt").stdout.splitlines() == headlines[:1]


def test_lines_format_reads_one_text_per_line(summarize, headlines, tmp_path):
    lines = f"{POLICE}\n{FERRY}\n"
    (tmp_path / "all.txt").write_text(lines)
    assert summarize("all.txt", "--format", "lines").stdout.splitlines() == headlines
    assert summarize("--format", "lines", input=lines).stdout.splitlines() == headlines


def test_standard_input_is_one_text(summarize, headlines):
    assert summarize(input=f"{POLICE}\n{FERRY}\n").stdout.splitlines() == headlines[:1]
    assert summarize("-", input=POLICE).stdout.splitlines() == headlines[:1]


@pytest.mark.parametrize(
    ("lines", "format"),
    [(f"{POLICE}\n{FERRY}\n", "lines"), (f'{{"text": "{POLICE}"}}\n' * 2, "jsonl")],
)
def test_separate_texts_on_standard_input_are_noticed(summarize, lines, format):
    assert (
        "readagain: standard input: 2 lines were read as one text; "
        f"use '--format {format}' if each line is a text\n"
    ) in summarize(input=lines).stderr


def test_separate_texts_in_a_file_are_noticed_once(summarize, tmp_path):
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text(f"{POLICE}\n{FERRY}\n")
    hints = [line for line in summarize("a.txt", "b.txt").stderr.splitlines() if "--format" in line]
    assert hints == [
        "readagain: a.txt: 2 lines were read as one text; use '--format lines' if each line is a "
        "text"
    ]


@pytest.mark.parametrize(
    "article",
    [
        f"{POLICE}\n",
        f"{POLICE}\n\n{FERRY}\n",
        "Police in Ghent said\non Monday that 12 people\ncrossed the old bridge.\n",
    ],
)
def test_one_text_has_no_hint(summarize, article, tmp_path):
    assert "--format" not in summarize(input=article).stderr
    (tmp_path / "article.txt").write_text(article)
    assert "--format" not in summarize("article.txt").stderr


def test_lines_as_texts_have_no_hint(summarize):
    lines = f"{POLICE}\n{FERRY}\n"
    assert "--format" not in summarize("--format", "text", input=lines).stderr
    assert "--format" not in summarize("--format", "lines", input=lines).stderr


def test_json_keeps_fields_and_adds_summary(summarize, headlines, tmp_path):
    rows = [{"id": 1, "text": POLICE}, {"id": 2, "text": FERRY, "tags": ["é"]}]
    (tmp_path / "news.jsonl").write_text("\n".join(map(json.dumps, rows)))
    done = summarize("news.jsonl", "--json")
    written = [json.loads(line) for line in done.stdout.splitlines()]
    expected = [
        {**row, "summary": text, "confidence": None, "warnings": found["warnings"]}
        for row, text, found in zip(rows, headlines, written, strict=True)
    ]
    assert written == expected
    assert written[1]["warnings"] == ["cut_off"]  # "… harbour by"


def test_warnings_of_one_text_are_one_line(summarize):
    done = summarize("It rains.")
    assert done.stdout == "It rains\n"
    assert done.stderr == "readagain: warnings: the text: the text is too short to summarize\n"


def test_file_name_with_control_characters_stays_on_one_line(summarize, tmp_path):
    name = "a\n  \x1b[31m\u202eb"
    (tmp_path / f"{name}.txt").write_text(POLICE)
    (tmp_path / f"{name}.pdf").write_text("%PDF-1.7")
    for names in ([f"{name}.txt", f"{name}.pdf"], [f"{name}.txt", "--max-words", "2"]):
        done = summarize(*names, "--output", f"{name}.out.txt", "--overwrite")
        assert done.returncode == 0
        lines = done.stderr.splitlines()
        assert lines
        assert all(line.startswith("readagain: ") for line in lines)
        assert not {"\x1b", "\u202e"} & set(done.stderr)


def test_warnings_of_several_texts_are_counted(summarize):
    german = "Die Stadt hat die Brücke für den Verkehr gesperrt."
    done = summarize("It rains.", "It snows.", german, "--max-words", "3")
    assert done.stderr.startswith("readagain: warnings: 3 of 3 texts: too_short 2, language 1")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("options", "advice"), [((), "; use --json to see all"), (("--json",), "")]
)
def test_first_text_with_a_warning_is_named(summarize, tmp_path, options, advice):
    (tmp_path / "a.txt").write_text("It rains.")
    done = summarize(POLICE, "It snows.", "a.txt", *options)
    line = "readagain: warnings: 2 of 3 texts: too_short 2; the first is text 2"
    assert done.stderr == f"{line}{advice}\n"


def test_mistyped_file_name_is_noticed(summarize):
    assert summarize("artcle").stderr == (
        "readagain: warnings: the text (no file has this name): "
        "the text is too short to summarize\n"
    )


def test_minimum_confidence_needs_a_model_with_confidence(summarize):
    done = summarize("--min-confidence", "0.5", POLICE)
    assert done.returncode == 2
    assert "--min-confidence is 0.5; this model has no confidence" in done.stderr


def test_jsonl_output_contains_json(summarize, headlines, tmp_path):
    (tmp_path / "news.csv").write_text(f'id,text\n1,"{POLICE}"\n')
    done = summarize("news.csv", "--output", "out.jsonl")
    assert (done.returncode, done.stdout) == (0, "")
    assert json.loads((tmp_path / "out.jsonl").read_text()) == {
        "id": "1",
        "text": POLICE,
        "summary": headlines[0],
        "confidence": None,
        "warnings": [],
    }
    assert not list(tmp_path.glob("*.part"))


def test_existing_output_is_replaced_only_on_request(summarize, headlines, tmp_path):
    (tmp_path / "out.txt").write_text("old\n")
    refused = summarize(POLICE, "--output", "out.txt")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr == (
        "readagain: out.txt: exists already; name another file, or replace it with --overwrite\n"
    )
    assert (tmp_path / "out.txt").read_text() == "old\n"
    assert summarize(POLICE, "--output", "out.txt", "--overwrite").returncode == 0
    assert (tmp_path / "out.txt").read_text() == f"{headlines[0]}\n"


@pytest.mark.parametrize("name", ["x.bad.jsonl", "x.jsonl", "link.jsonl"])
def test_input_is_never_replaced_by_an_output(summarize, tmp_path, name):
    content = json.dumps({"text": POLICE}) + "\n"
    (tmp_path / name.replace("link", "x")).write_text(content)
    (tmp_path / "link.jsonl").symlink_to("x.jsonl")
    output = "x.txt" if "bad" in name else "x.jsonl"
    done = summarize(name, "--output", output, "--overwrite")
    assert done.returncode == 2
    assert "is an input and would be replaced" in done.stderr
    assert (tmp_path / name).read_text() == content


def test_output_may_be_a_device(summarize):
    assert summarize(POLICE, "--output", "/dev/null").returncode == 0


def test_output_may_be_standard_output(summarize, headlines, tmp_path):
    assert summarize(POLICE, "--output", "-").stdout.splitlines() == headlines[:1]
    assert not list(tmp_path.iterdir())


def test_field_needs_json(summarize):
    done = summarize(POLICE, "--field", "headline")
    assert done.returncode == 2
    assert done.stderr == ("readagain: --field headline: needs --json; add it or remove --field\n")
    assert summarize(POLICE, "--field", "headline", "--output", "out.jsonl").returncode == 0


def test_overwrite_needs_an_output(summarize):
    done = summarize(POLICE, "--overwrite")
    assert done.returncode == 2
    assert done.stderr == "readagain: --overwrite: needs --output; name a file to write\n"


@pytest.fixture
def broken(tmp_path):
    """Write two texts with an invalid line between them."""
    good = json.dumps({"text": POLICE})
    (tmp_path / "news.jsonl").write_text(f"{good}\nbroken\n{good}\n")
    return tmp_path


def test_invalid_line_can_stop_the_command(summarize, broken):
    done = summarize("news.jsonl", "--output", "out.jsonl", "--on-error", "stop")
    assert done.returncode == 2
    assert "news.jsonl:2: not JSON" in done.stderr
    assert done.stderr.endswith("; or skip such records with --on-error=skip\n")
    assert [path.name for path in broken.iterdir()] == ["news.jsonl"]


def test_invalid_lines_are_written_next_to_the_output(summarize, broken, headlines):
    done = summarize("news.jsonl", "--output", "out.jsonl")
    assert done.returncode == 0
    first, last = done.stderr.splitlines()
    assert first.startswith("readagain: skipped news.jsonl:2: not JSON")
    assert last == "readagain: skipped 1 invalid record, written to out.bad.jsonl"
    rows = [json.loads(line) for line in (broken / "out.jsonl").read_text().splitlines()]
    assert [row["summary"] for row in rows] == [headlines[0]] * 2
    bad = json.loads((broken / "out.bad.jsonl").read_text())
    assert (bad["file"], bad["row"], bad["content"]) == ("news.jsonl", 2, "broken")


def test_invalid_line_is_an_empty_line_of_text(summarize, broken, headlines):
    done = summarize("news.jsonl")
    assert done.stdout.splitlines() == [headlines[0], "", headlines[0]]
    assert "readagain: skipped 1 invalid record\n" in done.stderr


def test_unreadable_input_names_the_options(summarize, tmp_path):
    (tmp_path / "header.csv").write_bytes("text,Überschrift\nA storm.,x\n".encode("cp1252"))
    done = summarize("header.csv", "--json")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.endswith("; convert the file or set --encoding (for example cp1252)\n")
    (tmp_path / "lines.txt").write_bytes(f"{POLICE}\ncaf\xe9\n".encode("latin-1"))
    advice = "is not utf-8; convert the file or set --encoding (for example cp1252)"
    done = summarize("lines.txt", "--format", "lines", "--output", "out.txt")
    assert f"skipped lines.txt:2: byte 0xe9 at column 4 {advice}\n" in done.stderr
    assert json.loads((tmp_path / "out.bad.jsonl").read_text())["reason"].endswith(
        "; convert the file or set encoding (for example cp1252)"
    )
    (tmp_path / "lines.txt").write_bytes("café".encode("latin-1"))
    done = summarize("lines.txt", "--format", "lines")
    assert done.stderr == f"readagain: lines.txt:1: byte 0xe9 at column 4 {advice}\n"
    (tmp_path / "a.csv").write_text("name,n\nGhent,1\n")
    assert "found 'name', 'n'; set --text-column\n" in summarize("a.csv").stderr


def test_file_of_skipped_records_is_not_left_behind(summarize, broken):
    (broken / "out.bad.jsonl").write_text("of an earlier run")
    refused = summarize("news.jsonl", "--output", "out.jsonl")
    assert refused.returncode == 2
    assert "out.bad.jsonl: exists already" in refused.stderr
    (broken / "news.jsonl").write_text(json.dumps({"text": POLICE}))
    assert summarize("news.jsonl", "--output", "out.jsonl", "--overwrite").returncode == 0
    assert not (broken / "out.bad.jsonl").exists()


def test_input_without_valid_record_is_an_error(summarize, tmp_path):
    (tmp_path / "one.txt").write_bytes(b"%PDF-1.7")
    done = summarize("one.txt", "--output", "out.txt")
    assert done.returncode == 2
    assert done.stderr == (
        "readagain: one.txt: a PDF; expected plain text, which 'pdftotext' extracts\n"
    )
    assert [path.name for path in tmp_path.iterdir()] == ["one.txt"]
    (tmp_path / "two.txt").write_bytes(b"%PDF-1.7")
    done = summarize("one.txt", "two.txt")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.endswith("extracts; no other record is valid\n")


def test_existing_field_is_not_overwritten(summarize, tmp_path):
    (tmp_path / "news.jsonl").write_text(json.dumps({"text": POLICE, "summary": "x"}))
    refused = summarize("news.jsonl", "--json")
    assert refused.returncode == 2
    assert "news.jsonl:1: has a field 'summary' already" in refused.stderr
    assert "headline" in json.loads(summarize("news.jsonl", "--json", "--field", "headline").stdout)


def test_summary_field_must_not_equal_an_added_field(summarize):
    refused = summarize(POLICE, "--json", "--field", "confidence")
    assert refused.returncode == 2
    assert refused.stderr == (
        "readagain: --field: the output has a field 'confidence' already; choose another name\n"
    )


def test_n_best_is_numbered_with_scores(summarize, headlines):
    lines = summarize(POLICE, "--n-best", 3).stdout.splitlines()
    assert [line.split("\t")[0] for line in lines[:3]] == ["1", "2", "3"]
    assert lines[0].split("\t")[2] == headlines[0]
    plain = json.loads(summarize(POLICE, "--n-best", 3, "--json").stdout)
    assert [other["summary"] for other in plain["alternatives"]] == [
        line.split("\t")[2] for line in lines[1:3]
    ]
    scores = [plain["score"], *(other["score"] for other in plain["alternatives"])]
    assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize(
    ("name", "content"), [("a.jsonl", ""), ("a.jsonl", "\n"), ("a.csv", ""), ("a.csv", "text\n")]
)
def test_input_without_texts_is_reported(summarize, tmp_path, name, content):
    (tmp_path / name).write_text(content)
    done = summarize(name)
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == "readagain: no texts in the input\n"


def test_limits_are_respected(summarize):
    assert len(summarize(POLICE, "--max-words", 2).stdout.split()) == 2
    assert len(summarize(POLICE, "--max-bytes", 12).stdout.strip().encode()) <= 12


def test_begin_forces_prefix(summarize):
    done = summarize(POLICE, "--begin", "Blorb say")
    assert done.stdout.startswith("Blorb say ")


def test_undecodable_bytes_are_escaped(summarize, tmp_path):
    words = b"Gh\xffent".decode("utf-8", "surrogateescape")
    assert summarize(POLICE, "--begin", words).stdout.startswith(r"Gh\udcffent ")
    assert summarize(POLICE, "--begin", words, "-o", "out.txt").returncode == 0
    assert (tmp_path / "out.txt").read_text().startswith(r"Gh\udcffent ")


def test_named_pipe_is_read(summarize, headlines, tmp_path):
    os.mkfifo(tmp_path / "wire")
    write = partial((tmp_path / "wire").write_text, f"{POLICE}\n" * 2)
    threading.Thread(target=write, daemon=True).start()
    assert summarize("wire", "--format", "lines").stdout.splitlines() == [headlines[0]] * 2


def test_device_is_read(summarize):
    assert summarize("/dev/null", "--format", "lines").returncode == 0


def test_tokenized_output_stays_tokenized(summarize):
    done = summarize("police said ## people", "--tokenized", "--min-words", 4, "--max-words", 4)
    assert "##" in done.stdout.split()


def test_empty_text_gives_empty_line(summarize, headlines):
    done = summarize("--format", "lines", input=f"\n{POLICE}\n")
    assert done.stdout.split("\n") == ["", headlines[0], ""]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["missing.txt"],
            "missing.txt: no such file; if it is part of a text, put the whole text in quotes",
        ),
        (["."], ".: is a folder; name its files"),
        (["http://example.org/x.txt"], "http://example.org/x.txt: is a URL; download it"),
        ([POLICE, "--model", "sport"], "no model 'sport'; bundled models:"),
        ([POLICE, "--format", "xml"], "--format is 'xml'; expected one of text, lines, jsonl"),
        ([POLICE, "--encoding", "klingon"], "--encoding: 'klingon' is unknown"),
        ([POLICE, "--beam", "0"], "--beam is 0; expected 1 to 1000"),
        (
            [POLICE, "--min-bytes", "80", "--max-bytes", "75"],
            "--min-bytes is 80; expected at most --max-bytes, which is 75",
        ),
        ([POLICE, "--beam", "2", "--n-best", "3"], "--n-best is 3; expected 1 to 2, the beam size"),
        (
            [POLICE, "--begin", "a b c", "--max-words", "2"],
            "--begin has 3 words; expected at most --max-words, which is 2",
        ),
        ([POLICE, "--precision", "int4"], "--precision is 'int4'; expected int8 or float32"),
        (
            [POLICE, "--case", "title"],
            "--case is 'title'; expected sentence, headline or plain",
        ),
        ([POLICE, "--output", "."], ".: is a folder; name a file to write"),
        (
            [POLICE, "--output", "nowhere/out.txt"],
            "the folder 'nowhere' does not exist",
        ),
        *(
            ([POLICE, "--output", name], f"--output {name}: not supported; name a .txt")
            for name in ("out.csv", "out.parquet", "out.jsonl.gz", "out.xlsx")
        ),
    ],
)
def test_invalid_input_is_one_line_and_status_2(summarize, arguments, message):
    done = summarize(*arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""


def start_on_pipe(**options):
    """Start a process that summarizes lines of a pipe."""
    command = [sys.executable, "-m", "readagain", "summarize", "--model", str(TOY)]
    return subprocess.Popen(
        [*command, "--format", "lines", "--threads", "1", "--max-words", "2"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        **options,
    )


def test_closed_pipe_ends_silently():
    with start_on_pipe() as process:
        process.stdin.write((POLICE + "\n").encode() * 600)
        process.stdin.close()
        assert process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(timeout=60) == 0


def test_ctrl_c_while_reading_a_pipe_is_one_line():
    # Programs in the background of a shell ignore Ctrl-C, and their children inherit that.
    usual = partial(signal.signal, signal.SIGINT, signal.default_int_handler)
    with start_on_pipe(preexec_fn=usual) as process:
        process.stdin.write((POLICE + "\n").encode())
        process.stdin.flush()
        assert process.stdout.readline()
        process.send_signal(signal.SIGINT)
        assert process.stderr.read() == b"readagain: interrupted\n"
        assert process.wait(timeout=60) == 130


def test_slow_pipe_is_summarized_line_by_line():
    with start_on_pipe(env={**os.environ, "PYTHONUNBUFFERED": ""}) as process:
        for text in (POLICE, FERRY):
            process.stdin.write((text + "\n").encode())
            process.stdin.flush()
            assert process.stdout.readline().strip()
        process.stdin.close()
        assert process.wait(timeout=60) == 0
