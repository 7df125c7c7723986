"""What every command does when it is interrupted, or when its reader leaves."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

READAGAIN = [sys.executable, "-m", "readagain"]


def usual_ctrl_c():
    # A shell lets programs in the background ignore Ctrl-C, and their children inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)


def run_without_reader(*arguments):
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as nobody:
        return subprocess.run(
            [*READAGAIN, *arguments], stdout=nobody, stderr=subprocess.PIPE, text=True, check=False
        )


def test_ctrl_c_is_one_line_and_status_130(tmp_path):
    os.mkfifo(tmp_path / "texts")
    command = [*READAGAIN, "rouge", str(tmp_path / "texts"), str(tmp_path / "texts")]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, preexec_fn=usual_ctrl_c)
    with (tmp_path / "texts").open("w"):  # opens once the command has begun to read
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (130, "readagain: interrupted\n")


@pytest.mark.parametrize(
    "arguments",
    [["presets"], ["presets", "--json"], ["presets", "tiny"], ["--help"], ["--version"]],
    ids=" ".join,
)
def test_a_reader_who_leaves_is_no_failure(arguments):
    done = run_without_reader(*arguments)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    "arguments",
    [["presets"], ["presets", "--json"], ["inspect", "news"], ["--version"], ["--help"]],
    ids=" ".join,
)
def test_a_full_disk_is_told_in_one_line(arguments):
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [*READAGAIN, *arguments], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    message = "readagain: cannot write its output: No space left on device; make room, and give"
    assert done.returncode == 2
    assert done.stderr == f"{message} the command again\n"


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_a_terminal_without_unicode_is_no_failure(encoding):
    done = subprocess.run(
        [*READAGAIN, "presets"],
        capture_output=True,
        check=False,
        env={**os.environ, "PYTHONIOENCODING": encoding},
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert rb"\u" in done.stdout


def test_closed_streams_are_no_failure(tmp_path):
    out = tmp_path / "headlines.txt"
    done = subprocess.run(
        [*READAGAIN, "summarize", "-", "A storm hit the harbour.", "--output", str(out)],
        preexec_fn=lambda: [os.close(stream) for stream in (0, 1, 2)],
        check=False,
    )
    assert done.returncode == 0
    assert len(out.read_text().splitlines()) == 2


def test_long_work_goes_on_when_its_reader_left():
    work = (
        "import sys; from readagain.cli.output import lasting_console; "
        "console = lasting_console(); "
        "[console.print('step', number) for number in range(3)]; print('stopped and saved'); "
        "print('done', file=sys.stderr)"
    )
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as nobody:
        done = subprocess.run(
            [sys.executable, "-c", work],
            stdout=nobody,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert (done.returncode, done.stderr) == (0, "done\n")


def test_an_error_is_told_even_when_the_reader_left():
    done = run_without_reader("presets", "tinny")
    assert done.returncode == 2
    assert "no preset 'tinny'" in done.stderr
