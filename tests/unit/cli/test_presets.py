import json
import tomllib

from readagain.config.files import run_to_dict
from readagain.presets import PRESETS


def test_all_presets_are_listed_with_size_parameters_and_citation(readagain):
    done = readagain("presets")
    assert done.returncode == 0, done.stderr
    lines = {line.split()[0]: line for line in done.stdout.splitlines()}
    assert lines.keys() == {"name", *PRESETS}
    row = lines["read_again_lstm_copy_15k"]
    assert "15,000" in row
    assert "61,725,848" in row
    assert "Zeng, Luo, Fidler and Urtasun 2016" in row


def test_the_list_can_be_had_as_json(readagain):
    rows = json.loads(readagain("presets", "--json").stdout)
    assert [row["name"] for row in rows] == list(PRESETS)
    assert rows[-1]["parameters"] > 0


def test_one_preset_is_printed_resolved_as_toml(readagain):
    done = readagain("presets", "tiny", "--set", "decode.beam_size=3")
    printed = tomllib.loads(done.stdout)
    expected = run_to_dict(PRESETS["tiny"])
    expected["decode"]["beam_size"] = 3
    assert printed == expected


def test_one_preset_is_printed_resolved_as_json(readagain):
    done = readagain("presets", "tiny", "--json")
    assert json.loads(done.stdout) == run_to_dict(PRESETS["tiny"])


def test_a_misspelt_preset_is_one_line_and_status_2(readagain):
    done = readagain("presets", "tinny")
    assert done.returncode == 2
    assert done.stderr == "readagain: no preset 'tinny'; did you mean 'tiny'?\n"


def test_a_change_without_a_preset_is_refused(readagain):
    done = readagain("presets", "--set", "decode.beam_size=3")
    assert done.returncode == 2
    assert done.stderr == ("readagain: --set changes one run; name the preset it starts from\n")
