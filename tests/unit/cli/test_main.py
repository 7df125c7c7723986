"""Interruptions, closed pipes, full disks and help of all commands."""

import os
import shlex
import signal
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
from typer.main import get_command

from readagain.cli.main import COMMANDS, build_app
from readagain.errors import DataError

READAGAIN = [sys.executable, "-m", "readagain"]


def enable_ctrl_c():
    # Programs in the background of a shell ignore Ctrl-C, and their children inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)


def run_with_closed_pipe(*arguments):
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as pipe:
        return subprocess.run(
            [*READAGAIN, *arguments], stdout=pipe, stderr=subprocess.PIPE, text=True, check=False
        )


def test_ctrl_c_is_one_line_and_status_130(tmp_path):
    os.mkfifo(tmp_path / "texts")
    command = [*READAGAIN, "rouge", str(tmp_path / "texts"), str(tmp_path / "texts")]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, preexec_fn=enable_ctrl_c)
    with (tmp_path / "texts").open("w"):  # opens when the command starts to read
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (130, "readagain: interrupted\n")


@pytest.mark.parametrize(
    "arguments",
    [["presets"], ["presets", "--json"], ["presets", "tiny"], ["--help"], ["--version"]],
    ids=" ".join,
)
def test_closed_pipe_is_not_an_error(arguments):
    done = run_with_closed_pipe(*arguments)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    "arguments",
    [["presets"], ["presets", "--json"], ["models", "news"], ["--version"], ["--help"]],
    ids=" ".join,
)
def test_full_disk_is_one_line_and_status_2(arguments):
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [*READAGAIN, *arguments], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    message = "readagain: output: cannot be written (No space left on device); free some space"
    assert done.returncode == 2
    assert done.stderr == f"{message} and run the command again\n"


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_output_without_unicode_is_escaped(encoding):
    done = subprocess.run(
        [*READAGAIN, "presets"],
        capture_output=True,
        check=False,
        env={**os.environ, "PYTHONIOENCODING": encoding},
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert rb"\u" in done.stdout


def test_closed_streams_are_not_an_error(tmp_path):
    out = tmp_path / "headlines.txt"
    done = subprocess.run(
        [*READAGAIN, "summarize", "-", "A storm hit the harbour.", "--output", str(out)],
        preexec_fn=lambda: [os.close(stream) for stream in (0, 1, 2)],
        check=False,
    )
    assert done.returncode == 0
    assert len(out.read_text().splitlines()) == 2


def test_persistent_console_survives_closed_pipe():
    work = (
        "import sys; from readagain.cli.output import persistent_console; "
        "console = persistent_console(); "
        "[console.print('step', number) for number in range(3)]; print('stopped and saved'); "
        "print('done', file=sys.stderr)"
    )
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as pipe:
        done = subprocess.run(
            [sys.executable, "-c", work],
            stdout=pipe,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert (done.returncode, done.stderr) == (0, "done\n")


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (PermissionError(13, "Permission denied", "/a/b"), "/a/b: cannot be read or written: Perm"),
        (PermissionError(13, "Permission denied", b"/a\xff\x1b"), "/a\ufffd\ufffd: cannot be read"),
        (OSError(5, "Input/output error"), "a file: cannot be read or written: Input/output error"),
        (TimeoutError(), "a file: cannot be read or written: TimeoutError"),
        (MemoryError(), "not enough memory for this command; use fewer workers or threads"),
    ],
)
def test_error_of_the_system_is_one_line_and_status_2(error, message, readagain, monkeypatch):
    def fail():
        raise error

    monkeypatch.setattr("readagain.cli.presets.command", fail)
    done = readagain("presets")
    assert done.returncode == 2
    assert done.stderr.startswith(f"readagain: {message}")
    assert len(done.stderr.splitlines()) == 1
    with pytest.raises(DataError) as raised:
        readagain("presets", "--debug")
    assert raised.value.__cause__ is error


def test_error_is_reported_despite_closed_pipe():
    done = run_with_closed_pipe("presets", "tinny")
    assert done.returncode == 2
    assert "no preset 'tinny'" in done.stderr


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help_shows_no_types_of_python(command, readagain):
    done = readagain(*command.split(), "--help", env={"COLUMNS": "200"})
    assert done.returncode == 0
    assert "--help" in done.stdout
    assert "<" not in done.stdout.replace("'<q>'", "")


@pytest.mark.parametrize("command", ["summarize", "train", "fit"])
def test_help_has_no_line_breaks_within_a_paragraph(command, readagain):
    shown = readagain(command, "--help", env={"COLUMNS": "400"}).stdout
    text = import_module(f"readagain.cli.{command}").command.__doc__
    last = " ".join(text.strip().split("\n\n")[-1].split())
    assert last in [line.strip() for line in shown.splitlines()]


def test_no_arguments_show_the_help(readagain):
    assert readagain().stdout == readagain("--help").stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["summarize", "x", "--max-words", "three"],
            "--max-words: expected a whole number; see 'readagain summarize --help'",
        ),
        (
            ["summarize", "x", "--min-confidence", "high"],
            "--min-confidence: expected a number; see 'readagain summarize --help'",
        ),
        (
            ["summarize", "x", "--on-error", "halt"],
            "--on-error: 'halt' is not one of 'stop', 'skip'; see 'readagain summarize --help'",
        ),
        (
            ["batch", "x", "y", "--workers=-1"],
            "--workers: expected a value greater than or equal to 0; see 'readagain batch --help'",
        ),
        (["explain", "--html"], "--html: requires an argument; see 'readagain explain --help'"),
        (["batch"], "INPUT: missing; see 'readagain batch --help'"),
        (["train", "tiny"], "--data: missing; see 'readagain train --help'"),
        (["presets", "a", "b", "c"], "b c: too many arguments; see 'readagain presets --help'"),
        (["models", "--jsonn"], "--jsonn: no such option; did you mean --json?"),
        (["--color"], "--color: no such option; see 'readagain --help'"),
        (["sumarize"], "sumarize: no such command; did you mean 'summarize'?"),
    ],
)
def test_invalid_command_line_is_one_line_in_plain_words(readagain, arguments, message):
    done = readagain(*arguments)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"readagain: {message}\n")


def examples():
    modules = {name: import_module(f"readagain.cli.{name}") for name in COMMANDS}
    return [(name, example) for name, module in modules.items() for example in module.EXAMPLES]


@pytest.mark.parametrize(("command", "example"), examples())
def test_examples_of_help_are_valid_command_lines(command, example):
    program, name, *arguments = shlex.split(example)
    assert (program, name) == ("readagain", command)
    app = get_command(build_app())
    app.commands[name].make_context(name, arguments)  # parses, and runs nothing


@pytest.mark.parametrize("command", COMMANDS)
def test_help_ends_with_examples(command, readagain):
    lines = readagain(command, "--help", env={"COLUMNS": "100"}).stdout.splitlines()
    shown = [line.strip() for line in lines if line.strip()]
    expected = [example for name, example in examples() if name == command]
    assert shown[-len(expected) - 1 :] == ["Examples:", *expected]


def test_shell_completion_suggests_commands(readagain):
    words = {"COMP_WORDS": "readagain pres", "COMP_CWORD": "1"}
    done = readagain(env={"_READAGAIN_COMPLETE": "complete_bash", **words})
    assert (done.returncode, done.stdout) == (0, "presets\n")
