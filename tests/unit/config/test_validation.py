"""Contradictions between settings of a run."""

from dataclasses import replace

import pytest

from readagain.config.override import override
from readagain.config.schema import DataSpec, DecodeSpec, ModelSpec, ReadAgainSpec, RunSpec
from readagain.config.validation import find_problems, raise_problems, validate_run
from readagain.errors import ArgumentError, ConfigError

RUN = RunSpec(title="a run", paper="none")


def test_default_run_is_valid():
    validate_run(RUN)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"model.encoder.kind": "hierarchical"},
            "data.num_sentences is 1; expected 2 or more, since model.encoder reads several",
        ),
        (
            {
                "model.encoder.kind": "hierarchical",
                "data.num_sentences": 2,
                "data.join_sentences": True,
            },
            "data.join_sentences is True, but model.encoder reads sentences separately",
        ),
        (
            {
                "model.encoder.kind": "hierarchical",
                "data.num_sentences": 21,
                "data.max_source_words": 400,
            },
            "data.num_sentences is 21 and data.max_source_words is 400; expected at most 8,000",
        ),
        (
            {"data.num_sentences": 3},
            "data.num_sentences is 3, but the encoder reads one sequence; "
            "set data.join_sentences to true, or model.encoder.kind to 'hierarchical'",
        ),
        (
            {"model.kind": "ras", "data.num_sentences": 2},
            "data.num_sentences is 2, but the encoder reads one sequence; "
            "set data.join_sentences to true",
        ),
        (
            {"model.encoder.importance": "scalar"},
            "model.encoder.importance is 'scalar', but a Read-Again LSTM has no importance",
        ),
        (
            {"model.encoder.importance_activation": "sigmoid"},
            "set model.encoder.cell to 'gru', or importance_activation to 'tanh'",
        ),
        (
            {"model.output": "softmax", "model.copied_words": "unknown"},
            "model.copied_words is 'unknown', but model.output is 'softmax'; "
            "set model.output to 'copy', or copied_words to 'place' (the default)",
        ),
        (
            {"train.objective": "risk", "train.label_smoothing": 0.1},
            "train.label_smoothing is 0.1, but has no effect with train.objective 'risk'; "
            "set it to 0",
        ),
        (
            {"model.shortlist_size": 63},
            "model.shortlist_size is 63; expected 64 or more, for all words of a source and "
            "the four special tokens, or 0 for no shortlist",
        ),
        (
            {"decode.min_bytes": 80, "decode.max_bytes": 75},
            "decode.min_bytes is 80; expected at most decode.max_bytes, which is 75",
        ),
        (
            {"decode.min_words": 30},
            "decode.min_words is 30; expected at most decode.max_words, which is 24",
        ),
        (
            {"train.objective": "risk", "data.max_summary_words": 63},
            "data.max_summary_words is 63; expected at most 62, since train.objective is 'risk'",
        ),
    ],
)
def test_contradictions_are_reported(changes, message):
    with pytest.raises(ConfigError) as caught:
        override(RUN, changes)
    assert message in str(caught.value)


def test_sequence_networks_accept_joined_sentences():
    for kind in ("encoder_decoder", "abs", "ras"):
        changes = {"data.num_sentences": 3, "data.join_sentences": True, "model.kind": kind}
        assert override(RUN, changes).data == DataSpec(num_sentences=3, join_sentences=True)


def test_shortlist_must_hold_every_word_of_a_source():
    sentences = {"data.num_sentences": 2, "data.max_source_words": 10}
    with pytest.raises(ConfigError, match="shortlist_size is 23; expected 24 or more"):
        override(
            RUN, {**sentences, "model.encoder.kind": "hierarchical", "model.shortlist_size": 23}
        )
    run = override(RUN, {**sentences, "data.join_sentences": True, "model.shortlist_size": 14})
    assert run.model.shortlist_size == 14


def test_problems_of_an_argument_name_the_argument():
    with pytest.raises(ArgumentError, match=r"changes: a is \{0\}; expected b") as caught:
        raise_problems(["a is {0}; expected b"], argument="changes")
    assert caught.value.format_message(str.upper) == "CHANGES: a is {0}; expected b"


def test_all_problems_are_reported_together():
    run = RunSpec(
        title="by hand",
        paper="none",
        model=ModelSpec(encoder=ReadAgainSpec(hidden_size=0)),
        decode=DecodeSpec(beam_size=-1),
    )
    with pytest.raises(ConfigError) as caught:
        raise_problems(find_problems(run), where="a test")
    assert str(caught.value) == (
        "a test: 2 problems\n"
        "  model.encoder.hidden_size is 0; expected 1 or more\n"
        "  decode.beam_size is -1; expected 1 to 1000"
    )


def test_nested_setting_must_be_a_spec():
    with pytest.raises(ConfigError, match="model.encoder is 'gru'; expected OnePassSpec, "):
        validate_run(RunSpec(title="t", paper="p", model=ModelSpec(encoder="gru")))


@pytest.mark.parametrize("name", ["num_sentences", "max_source_words", "max_summary_words"])
def test_sizes_of_texts_are_bounded(name):
    with pytest.raises(ConfigError, match=f"data.{name} is 70000; expected 1 to"):
        validate_run(replace(RUN, data=replace(RUN.data, **{name: 70_000})))
