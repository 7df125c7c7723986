"""The package as a whole: light to import, and clear about what is missing."""

import subprocess
import sys

import pytest

from readagain.errors import DataError, MissingExtraError, first_line, quoted, require


def test_help_and_every_light_command_import_no_torch():
    code = "import sys, readagain.cli.main as m; m.build_app(); print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_a_missing_extra_answers_with_the_pip_line():
    with pytest.raises(MissingExtraError, match=r"pip install 'readagain\[plot\]'"):
        require("nothing_of_this_name.sub", extra="plot", purpose="drawing curves")


def test_an_import_that_fails_inside_a_present_package_is_not_blamed_on_the_extra(
    tmp_path, monkeypatch
):
    (tmp_path / "half_there.py").write_text("import absent_dependency\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="absent_dependency"):
        require("half_there", extra="plot", purpose="drawing curves")


def test_version_is_printed(readagain):
    done = readagain("--version")
    assert (done.returncode, done.stdout.split()[0]) == (0, "readagain")


def test_an_unknown_command_is_refused(readagain):
    done = readagain("summarise")
    assert done.returncode == 2
    assert "summarise" in done.stderr


def test_a_message_cannot_command_a_terminal():
    error = DataError("no column '\x1b[2J\ud800'\n  of two")
    assert (
        str(error) == "no column '\N{REPLACEMENT CHARACTER}[2J\N{REPLACEMENT CHARACTER}'\n  of two"
    )


def test_what_a_message_quotes_is_short():
    assert quoted("a\nb") == "'a\\nb'"
    assert quoted("a" * 1000) == "'" + "a" * 79 + "…"


def test_a_library_that_says_nothing_is_named_by_its_error():
    assert first_line(ValueError("[Error] : 1 : bad graph\nat line 3")) == "bad graph"
    assert first_line(ValueError(" \n")) == "ValueError"
