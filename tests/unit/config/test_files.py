"""Runs as JSON and TOML: saving, loading and run files."""

import json
import tomllib

import pytest

from readagain.config.fields import spec_fields, walk_fields
from readagain.config.files import (
    load_run,
    load_run_file,
    run_from_dict,
    run_to_json,
    run_to_toml,
    save_run,
    spec_to_dict,
)
from readagain.config.override import override
from readagain.config.schema import RunSpec
from readagain.errors import ArtifactError, ConfigError

RUN = override(
    RunSpec(title="a “run”", paper="none"),
    {"model.encoder.kind": "hierarchical", "data.num_sentences": 2, "train": "modern"},
)
PRESETS = {"base": RunSpec(title="base", paper="none")}


def test_run_from_dict_ignores_unused_removed_settings():
    settings = spec_to_dict(RUN)
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
def test_saved_run_loads_unchanged(tmp_path, changes):
    run = override(RUN, {**changes, "data.num_sentences": 1}) if changes else RUN
    save_run(run, tmp_path / "run.json")
    assert load_run(tmp_path / "run.json") == run
    assert [path.name for path in tmp_path.iterdir()] == ["run.json"]


def test_json_has_the_kind_of_variants():
    settings = json.loads(run_to_json(RUN))
    assert settings["model"]["kind"] == "encoder_decoder"
    assert settings["model"]["encoder"]["kind"] == "hierarchical"
    assert settings["model"]["decoder"]["kind"] == "attention"
    assert "kind" not in settings["train"]


def test_model_without_kind_is_an_encoder_decoder():
    settings = spec_to_dict(RUN)
    del settings["model"]["kind"]
    assert run_from_dict(settings) == RUN


def test_toml_equals_json_with_help_texts():
    text = run_to_toml(RUN)
    assert tomllib.loads(text) == spec_to_dict(RUN)
    assert run_from_dict(tomllib.loads(text)) == RUN
    assert "max_norm = 1.0  # Maximum gradient norm; larger gradients are clipped." in text


def test_missing_setting_takes_its_default():
    settings = spec_to_dict(RUN)
    del settings["decode"]["diversity"]
    assert run_from_dict(settings) == RUN


def test_removed_setting_without_effect_is_ignored():
    settings = spec_to_dict(RUN)
    settings["decode"] |= {"coverage": 0.0, "limit_copies": False}
    assert run_from_dict(settings) == RUN


@pytest.mark.parametrize(("name", "value"), [("coverage", 0.2), ("limit_copies", True)])
def test_removed_setting_with_effect_is_unknown(name, value):
    settings = spec_to_dict(RUN)
    settings["decode"][name] = value
    with pytest.raises(ConfigError, match=f"no setting '{name}'"):
        run_from_dict(settings)


def test_run_needs_a_title():
    with pytest.raises(ConfigError, match="run: no 'title'; add it"):
        run_from_dict({"paper": "none"})


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", r"run\.json: not JSON; was it edited by hand"),
        ("[1]", r"run\.json: contains a list; expected a JSON object"),
        ('{"title": "t", "paper": "p", "vocabsize": 9}', "did you mean 'vocab_size'"),
    ],
)
def test_invalid_run_names_its_file(tmp_path, content, message):
    path = tmp_path / "run.json"
    path.write_text(content)
    with pytest.raises((ArtifactError, ConfigError), match=message):
        load_run(path)


def test_run_file_overrides_a_preset(tmp_path):
    path = tmp_path / "run.toml"
    path.write_text(
        'preset = "base"\n[override]\n"vocab_size" = 2000\n"decode.beam_size" = 4\n'
        '[override.model.encoder]\nkind = "one_pass"\n'
    )
    assert load_run_file(path, PRESETS) == override(
        PRESETS["base"],
        {"vocab_size": 2000, "decode.beam_size": 4, "model.encoder.kind": "one_pass"},
    )


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('preset = "base', r"run\.toml: not TOML"),
        ('preset = "bose"', r"run\.toml: preset is 'bose'; 'readagain presets' lists the presets"),
        ("", r"run\.toml: no 'preset'; 'readagain presets' lists the presets"),
        ('preset = "base"\nvocab_size = 9', r"run\.toml: unknown key 'vocab_size'; a run file"),
        ('preset = "base"\noverride = 3', r"run\.toml: override is 3; expected a table"),
        ('preset = "base"\n[override]\n"vocab_size" = 0', r"run\.toml: vocab_size is 0; expected"),
    ],
)
def test_invalid_run_file_is_reported(tmp_path, content, message):
    path = tmp_path / "run.toml"
    path.write_text(content)
    with pytest.raises(ConfigError, match=message) as caught:
        load_run_file(path, PRESETS)
    assert "\n" not in str(caught.value)


def test_missing_run_file_is_reported(tmp_path):
    with pytest.raises(ConfigError, match=r"absent\.toml: cannot be read: No such file"):
        load_run_file(tmp_path / "absent.toml", PRESETS)


def test_run_file_must_be_utf_8(tmp_path):
    (tmp_path / "run.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ConfigError, match=r"run\.toml: not TOML: 'utf-8'"):
        load_run_file(tmp_path / "run.toml", PRESETS)


def test_fields_have_their_help_texts():
    settings = spec_fields(RunSpec)
    assert settings["vocab_size"].help.startswith("Size of the decoder vocabulary")
    assert settings["title"].help == ""


def test_fields_are_walked_by_dotted_name():
    values = {path: value for path, _, value in walk_fields(RUN)}
    assert values["model.encoder.combine"] == "concat"
    assert values["decode.beam_size"] == 10


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("[" * 100_000, "not JSON"),
        ("9" * 5_000, "not JSON"),
        (" " * 2_000_000, "cannot be read: .*more than 1,048,576 bytes"),
    ],
)
def test_huge_run_is_refused(tmp_path, content, reason):
    path = tmp_path / "run.json"
    path.write_text(content)
    with pytest.raises(ArtifactError, match=reason):
        load_run(path)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("a = " + "[" * 100_000, "not TOML: "),
        ("a = " + "9" * 5_000, "not TOML: Exceeds the limit"),
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
def test_huge_run_file_is_refused(tmp_path, content, reason):
    path = tmp_path / "run.toml"
    path.write_text(content)
    with pytest.raises(ConfigError, match=reason):
        load_run_file(path, {"plain": RunSpec(title="a", paper="b")})
