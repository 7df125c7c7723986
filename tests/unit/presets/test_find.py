"""Lookup of presets and run files by name."""

import pytest

from readagain.errors import ConfigError
from readagain.presets import PRESETS
from readagain.presets.find import find_run


def test_preset_is_found_by_name():
    assert find_run("tiny") == PRESETS["tiny"]


def test_assignments_override_a_preset():
    assert find_run("tiny", ["decode.beam_size=3"]).decode.beam_size == 3


def test_run_file_is_found_by_path(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text('preset = "tiny"\n[override]\nvocab_size = 77\n')
    assert find_run(str(path), ["title=mine"]).vocab_size == 77


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("tinny", "no preset 'tinny'; did you mean 'tiny'?"),
        ("?", "no preset '\\?'; 'readagain presets' lists them"),
    ],
)
def test_unknown_preset_suggests_the_nearest(name, message):
    with pytest.raises(ConfigError, match=message):
        find_run(name)


def test_invalid_assignment_names_its_argument():
    with pytest.raises(ConfigError, match="changes: decode.beam_size is 0; expected 1 to 1000"):
        find_run("tiny", ["decode.beam_size=0"])
