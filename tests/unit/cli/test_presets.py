"""The command `readagain presets`."""

import json
import tomllib

import pytest

from readagain.config.files import spec_to_dict
from readagain.presets import BASELINES, PRESETS


def test_presets_lists_sizes_and_citations(readagain):
    done = readagain("presets")
    assert done.returncode == 0, done.stderr
    lines = {line.split()[0]: line for line in done.stdout.splitlines()}
    assert lines.keys() == {"name", *BASELINES, *PRESETS}
    row = lines["read_again_lstm_copy_15k"]
    assert "15,000" in row
    assert "Zeng, Luo, Fidler and Urtasun 2016" in row


def test_list_as_json(readagain):
    rows = json.loads(readagain("presets", "--json").stdout)
    assert [row["name"] for row in rows] == [*BASELINES, *PRESETS]
    assert rows[-1]["vocab_size"] > 0


def test_preset_is_printed_as_toml(readagain):
    done = readagain("presets", "tiny", "--set", "decode.beam_size=3")
    printed = tomllib.loads(done.stdout)
    expected = spec_to_dict(PRESETS["tiny"])
    expected["decode"]["beam_size"] = 3
    assert printed == expected


def test_preset_is_printed_as_json(readagain):
    done = readagain("presets", "tiny", "--json")
    assert json.loads(done.stdout) == spec_to_dict(PRESETS["tiny"])


def test_baseline_is_listed_and_printed(readagain):
    listed = json.loads(readagain("presets", "--json").stdout)
    assert listed[2] == {
        "name": "topiary",
        "title": "TOPIARY",
        "vocab_size": 0,
        "paper": "Zajic, Dorr and Schwartz 2004 (DUC); Dorr, Zajic and Schwartz 2003 (HLT-NAACL)",
    }
    assert tomllib.loads(readagain("presets", "topiary").stdout)["max_bytes"] == 75
    [line] = [
        line for line in readagain("presets").stdout.splitlines() if line.startswith("topiary")
    ]
    assert line.split()[:2] == ["topiary", "–"]


def test_baseline_cannot_be_trained_or_changed(readagain):
    done = readagain("presets", "topiary", "--set", "decode.beam_size=3")
    assert (done.returncode, done.stderr) == (
        2,
        "readagain: 'topiary' has no network, so there is nothing to train or to change; score "
        "it with 'readagain evaluate'\n",
    )


def test_unknown_preset_is_one_line_and_status_2(readagain):
    done = readagain("presets", "tinny")
    assert done.returncode == 2
    assert done.stderr == "readagain: no preset 'tinny'; did you mean 'tiny'?\n"


@pytest.mark.parametrize(
    ("assignment", "message"),
    [
        ("decode.beam_size=0", "--set: decode.beam_size is 0; expected 1 to 1000"),
        ("decode", "--set 'decode': expected NAME=VALUE, for example decode.beam_size=5"),
    ],
)
def test_invalid_set_is_refused(readagain, assignment, message):
    done = readagain("presets", "tiny", "--set", assignment)
    assert (done.returncode, done.stderr) == (2, f"readagain: {message}\n")


def test_set_without_preset_is_refused(readagain):
    done = readagain("presets", "--set", "decode.beam_size=3")
    assert done.returncode == 2
    assert done.stderr == ("readagain: --set: needs a preset; name one\n")
