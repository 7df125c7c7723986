"""Imports of the package, and errors for missing extras."""

import subprocess
import sys

import pytest

import readagain
from readagain.errors import DataError, MissingExtraError, first_line, quoted, require


def test_light_commands_do_not_import_torch():
    code = "import sys, readagain.cli.main as m; m.build_app(); print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_dir_lists_the_public_names():
    assert dir(readagain) == sorted(readagain.__all__)


def test_missing_extra_is_named_with_the_command_of_a_clone():
    with pytest.raises(MissingExtraError) as error:
        require("nothing_of_this_name.sub", extra="plot", purpose="drawing curves")
    assert str(error.value) == (
        "drawing curves needs the package 'nothing_of_this_name', which is not installed; install "
        "readagain with the extra 'plot' (in a clone: pip install '.[plot]')"
    )


def test_require_raises_errors_of_installed_packages(tmp_path, monkeypatch):
    (tmp_path / "half_there.py").write_text("import absent_dependency\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="absent_dependency"):
        require("half_there", extra="plot", purpose="drawing curves")


def test_version_is_printed(readagain):
    done = readagain("--version")
    assert (done.returncode, done.stdout.split()[0]) == (0, "readagain")


def test_unknown_command_is_refused(readagain):
    done = readagain("summarise")
    assert done.returncode == 2
    assert "summarise" in done.stderr


def test_message_has_no_control_characters():
    error = DataError("no column '\x1b[2J\ud800'\n  of two")
    assert (
        str(error) == "no column '\N{REPLACEMENT CHARACTER}[2J\N{REPLACEMENT CHARACTER}'\n  of two"
    )


def test_quoted_values_are_short():
    assert quoted("a\nb") == "'a\\nb'"
    assert quoted("a" * 1000) == "'" + "a" * 79 + "…"


def test_first_line_of_empty_error_is_its_type():
    assert first_line(ValueError("[Error] : 1 : bad graph\nat line 3")) == "bad graph"
    assert first_line(ValueError(" \n")) == "ValueError"
