import json
import tomllib

import pytest

from readagain.config.files import (
    load_run,
    read_run_file,
    run_from_dict,
    run_to_dict,
    run_to_json,
    run_to_toml,
    save_run,
)
from readagain.config.override import override
from readagain.config.schema import RunSpec
from readagain.config.settings import settings_of, walk
from readagain.errors import ConfigError

RUN = override(
    RunSpec(title="a “run”", paper="none"),
    {"model.encoder.kind": "hierarchical", "data.num_sentences": 2, "train": "modern"},
)
PRESETS = {"base": RunSpec(title="base", paper="none")}


def test_run_from_dict_ignores_unused_removed_settings():
    settings = run_to_dict(RUN)
    settings["model"]["feature_size"] = 0
    assert run_from_dict(settings) == RUN
    settings["model"]["feature_size"] = 16
    with pytest.raises(ConfigError, match="no setting 'feature_size'"):
        run_from_dict(settings)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"model.kind": "abs"},
        {"model.kind": "abs", "model.encoder.smoothing": 1},
        {"model.kind": "ras", "model.cell": "lstm"},
    ],
)
def test_a_run_survives_the_round_trip_through_a_file(tmp_path, changes):
    run = override(RUN, {**changes, "data.num_sentences": 1}) if changes else RUN
    save_run(run, tmp_path / "run.json")
    assert load_run(tmp_path / "run.json") == run
    assert [path.name for path in tmp_path.iterdir()] == ["run.json"]


def test_json_names_the_kind_of_each_part_that_has_variants():
    settings = json.loads(run_to_json(RUN))
    assert settings["model"]["kind"] == "encoder_decoder"
    assert settings["model"]["encoder"]["kind"] == "hierarchical"
    assert settings["model"]["decoder"]["kind"] == "attention"
    assert "kind" not in settings["train"]


def test_a_run_from_before_there_were_other_networks_is_an_encoder_and_a_decoder():
    settings = run_to_dict(RUN)
    del settings["model"]["kind"]
    assert run_from_dict(settings) == RUN


def test_toml_says_the_same_as_json_and_explains():
    text = run_to_toml(RUN)
    assert tomllib.loads(text) == run_to_dict(RUN)
    assert run_from_dict(tomllib.loads(text)) == RUN
    assert "max_norm = 1.0  # Gradients longer than this are shortened to it." in text


def test_a_setting_that_an_older_file_lacks_takes_its_default():
    settings = run_to_dict(RUN)
    del settings["decode"]["coverage"]
    assert run_from_dict(settings) == RUN


def test_a_run_without_a_title_is_refused():
    with pytest.raises(ConfigError, match="run: no 'title'; every run says where it comes from"):
        run_from_dict({"paper": "none"})


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", r"run\.json:1: not JSON: Expecting property name"),
        ("[1]", r"run\.json: holds a list; expected a JSON object"),
        ('{"title": "t", "paper": "p", "vocabsize": 9}', "did you mean 'vocab_size'"),
    ],
)
def test_a_damaged_run_is_named_with_its_file(tmp_path, content, message):
    path = tmp_path / "run.json"
    path.write_text(content)
    with pytest.raises(ConfigError, match=message):
        load_run(path)


def test_a_run_file_is_a_preset_and_what_differs(tmp_path):
    path = tmp_path / "run.toml"
    path.write_text(
        'preset = "base"\n[override]\n"vocab_size" = 2000\n"decode.beam_size" = 4\n'
        '[override.model.encoder]\nkind = "one_pass"\n'
    )
    assert read_run_file(path, PRESETS) == override(
        PRESETS["base"],
        {"vocab_size": 2000, "decode.beam_size": 4, "model.encoder.kind": "one_pass"},
    )


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('preset = "base', r"run\.toml: not TOML"),
        ('preset = "bose"', r"run\.toml: preset is 'bose'; 'readagain presets' lists what there"),
        ("", r"run\.toml: no 'preset'; 'readagain presets' lists what there is"),
        ('preset = "base"\nvocab_size = 9', r"run\.toml: no setting 'vocab_size' here; a run file"),
        ('preset = "base"\noverride = 3', r"run\.toml: override is 3; expected a table"),
        ('preset = "base"\n[override]\n"vocab_size" = 0', r"run\.toml: vocab_size is 0; expected"),
    ],
)
def test_a_bad_run_file_is_answered_in_one_line(tmp_path, content, message):
    path = tmp_path / "run.toml"
    path.write_text(content)
    with pytest.raises(ConfigError, match=message) as caught:
        read_run_file(path, PRESETS)
    assert "\n" not in str(caught.value)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(ConfigError, match=r"absent\.toml: no such file"):
        read_run_file(tmp_path / "absent.toml", PRESETS)


def test_a_file_that_is_not_text_is_named(tmp_path):
    (tmp_path / "run.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ConfigError, match=r"run\.toml: cannot be read"):
        read_run_file(tmp_path / "run.toml", PRESETS)


def test_help_texts_stand_under_their_own_fields():
    settings = settings_of(RunSpec)
    assert settings["vocab_size"].help.startswith("Words the decoder can generate")
    assert settings["title"].help == ""


def test_every_setting_is_walked_with_its_dotted_name():
    values = {path: value for path, _, value in walk(RUN)}
    assert values["model.encoder.combine"] == "concat"
    assert values["decode.beam_size"] == 10


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("[" * 100_000, "not JSON that a run could be"),
        ("9" * 5_000, "not JSON that a run could be: Exceeds the limit"),
        (" " * 2_000_000, "cannot be read: .*more than 1,048,576 bytes"),
    ],
)
def test_a_run_beyond_all_bounds_is_refused(tmp_path, content, reason):
    path = tmp_path / "run.json"
    path.write_text(content)
    with pytest.raises(ConfigError, match=reason):
        load_run(path)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("a = " + "[" * 100_000, "not TOML that a run could be"),
        ("a = " + "9" * 5_000, "not TOML that a run could be: Exceeds the limit"),
        ("preset = []", r"preset is \[\]; 'readagain presets' lists"),
        ('preset = "plain"\n[override]\ntrain = []', r"train is \[\]; expected"),
        (
            'preset = "plain"\n[override]\ntrain.learning_rate = 1' + "0" * 400,
            r"is 10{70,}…; expected",
        ),
        (
            'preset = "plain"\n[override]\ntrain.seed = "' + "a" * 900 + '"',
            "is 'a{70,79}…; expected",
        ),
    ],
)
def test_a_run_file_beyond_all_bounds_is_refused(tmp_path, content, reason):
    path = tmp_path / "run.toml"
    path.write_text(content)
    with pytest.raises(ConfigError, match=reason):
        read_run_file(path, {"plain": RunSpec(title="a", paper="b")})
