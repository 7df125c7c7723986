"""Changes to the settings of a run."""

import pytest

from readagain.config.override import override, parse_assignments
from readagain.config.schema import (
    MODERN,
    RECIPES,
    AbsSpec,
    HierarchicalSpec,
    OnePassSpec,
    ReadAgainSpec,
    RunSpec,
)
from readagain.errors import ConfigError

RUN = RunSpec(title="a run", paper="none")


def test_dotted_name_changes_one_setting_of_a_copy():
    changed = override(RUN, {"decode.beam_size": 3})
    assert changed.decode.beam_size == 3
    assert RUN.decode.beam_size == 10
    assert override(changed, {"decode.beam_size": 10}) == RUN


def test_nested_mappings_equal_dotted_names():
    assert override(RUN, {"model": {"encoder": {"cell": "gru"}}}) == override(
        RUN, {"model.encoder.cell": "gru"}
    )


def test_unknown_name_suggests_the_nearest():
    with pytest.raises(ConfigError) as caught:
        override(RUN, {"decode.beam_sise": 5, "model.decoder.hiden_size": 64}, where="run.toml")
    assert str(caught.value) == (
        "run.toml: 2 problems\n"
        "  'decode.beam_sise': no setting 'beam_sise'; did you mean 'beam_size'?\n"
        "  'model.decoder.hiden_size': no setting 'hiden_size'; did you mean 'hidden_size'?"
    )


def test_unknown_name_without_match_lists_all():
    with pytest.raises(ConfigError, match="no setting 'zzz'; expected one of cell, hid"):
        override(RUN, {"model.decoder.zzz": 1})


def test_plain_value_has_no_settings_inside():
    with pytest.raises(ConfigError, match=r"'vocab_size\.x': 'vocab_size' has no settings"):
        override(RUN, {"vocab_size.x": 1})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"decode.beam_size": 0}, "decode.beam_size is 0; expected 1 to 1000"),
        ({"decode.beam_size": "ten"}, "decode.beam_size is 'ten'; expected a whole number"),
        ({"decode.beam_size": 2.5}, "decode.beam_size is 2.5; expected a whole number"),
        ({"train.halving_every": 0}, "train.halving_every is 0; expected 1 or more"),
        ({"train.epochs": True}, "train.epochs is True; expected a whole number"),
        ({"train.learning_rate": 0}, "train.learning_rate is 0.0; expected more than 0"),
        ({"train.learning_rate": "fast"}, "train.learning_rate is 'fast'; expected a number"),
        ({"model.dropout": -0.1}, "model.dropout is -0.1; expected 0 to 0.9"),
        ({"model.encoder.bidirectional": 1}, "bidirectional is 1; expected true or false"),
        ({"title": 3}, "title is 3; expected text"),
        ({"model.encoder.cell": "rnn"}, "model.encoder.cell is 'rnn'; expected gru or lstm"),
        ({"model.encoder.kind": "cnn"}, "kind is 'cnn'; expected 'one_pass', 'read_again' or"),
        (
            {"train": "modrn"},
            "train is 'modrn'; expected the name of a recipe (paper or modern) or a table of",
        ),
        ({"data": 4}, "data is 4; expected a table of settings"),
        ({"vocab_size": 4}, "vocab_size is 4; expected 5 or more"),
    ],
)
def test_invalid_value_is_reported(changes, message):
    with pytest.raises(ConfigError) as caught:
        override(RUN, changes)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_nan_is_in_no_range():
    with pytest.raises(ConfigError, match="model.dropout is nan; expected 0 to 0.9"):
        override(RUN, {"model.dropout": float("nan")})


def test_int_becomes_float():
    rate = override(RUN, {"train.learning_rate": 1}).train.learning_rate
    assert (rate, type(rate)) == (1.0, float)


def test_new_kind_keeps_common_settings():
    changes = {
        "model.encoder.hidden_size": 64,
        "model.encoder.combine": "global",  # a setting of the kind below: the order does not matter
        "model.encoder.kind": "hierarchical",
        "data.num_sentences": 2,
    }
    bidirectional = override(RUN, {"model.encoder.bidirectional": True})
    assert override(bidirectional, changes).model.encoder == HierarchicalSpec(
        hidden_size=64, combine="global", bidirectional=True
    )


def test_new_network_keeps_common_settings_only():
    changed = override(RUN, {"model.dropout": 0.1, "model.embedding_size": 64, "model.kind": "abs"})
    assert changed.model == AbsSpec(embedding_size=64, dropout=0.1)
    assert override(changed, {"model.kind": "encoder_decoder"}).model.encoder == ReadAgainSpec()


def test_setting_of_another_network_is_unknown():
    with pytest.raises(ConfigError, match="'model.attention_size': no setting 'attention_size'"):
        override(RUN, {"model.kind": "ras", "model.attention_size": 5})
    with pytest.raises(ConfigError, match="expected 'encoder_decoder', 'abs' or 'ras'"):
        override(RUN, {"model.kind": "rnn"})


def test_new_value_can_be_a_spec():
    encoder = OnePassSpec(cell="gru", hidden_size=7)
    assert override(RUN, {"model.encoder": encoder}).model.encoder is encoder


def test_recipe_can_be_changed_in_any_order():
    for changes in (
        {"train": "modern", "train.epochs": 3},
        {"train.epochs": 3, "train": "modern"},
    ):
        train = override(RUN, changes).train
        assert train.epochs == 3
        assert train.optimizer == MODERN.optimizer


def test_paper_recipe_matches_section_4():
    paper = RECIPES["paper"]
    assert (paper.optimizer, paper.learning_rate, paper.max_norm) == ("sgd", 2.0, 10.0)
    assert (paper.schedule, paper.halving_from_epoch, paper.epochs) == ("halving", 5, 10)
    assert paper.batch_size == 64


def test_assignments_are_parsed_as_toml_or_text():
    assert parse_assignments(
        ["decode.beam_size=5", "train.learning_rate = 1e-3", "model.output=copy", 'title="7"']
    ) == {
        "decode.beam_size": 5,
        "train.learning_rate": 1e-3,
        "model.output": "copy",
        "title": "7",
    }


@pytest.mark.parametrize("assignment", ["decode.beam_size", "=5"])
def test_assignment_needs_name_and_value(assignment):
    with pytest.raises(ConfigError, match=f"changes '{assignment}': expected NAME=VALUE, for"):
        parse_assignments([assignment])


def test_unparsable_value_is_text():
    nested, long = "[" * 100_000, "9" * 5_000
    assert parse_assignments([f"a={nested}", f"b={long}"]) == {"a": nested, "b": long}


def test_deep_nesting_is_an_unknown_setting():
    nested: dict[str, object] = {}
    for _ in range(5_000):
        nested = {"a": nested}
    with pytest.raises(ConfigError, match="no setting 'a'"):
        override(RunSpec(title="a", paper="b"), nested)
