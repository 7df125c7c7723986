"""Whether a run can be honoured: every problem found, reported together."""

from collections.abc import Sequence

from readagain.config.schema import (
    HierarchicalSpec,
    ModelSpec,
    OnePassSpec,
    RunSpec,
)
from readagain.config.settings import walk
from readagain.errors import ConfigError

_NUM_RESERVED = 4  # text.vocab.SPECIAL_TOKENS, which stands above this layer
_MOST_REWARDED_WORDS = 62  # training.reward holds a reference in the bits of one integer


def check_run(run: RunSpec, *, where: str = "") -> None:
    """Refuse a run with settings that are out of range or contradict each other.

    Args:
        run: what is to be checked.
        where: the file or option it came from, for the message.

    Raises:
        ConfigError: naming every problem.
    """
    refuse(problems_of(run), where=where)


def problems_of(run: RunSpec) -> list[str]:
    """List what is wrong with a run, one sentence each; empty if nothing is."""
    found = [
        f"{path} {complaint}"
        for path, setting, value in walk(run)
        if (complaint := setting.complaint(value)) is not None
    ]
    return found or _contradictions(run)


def refuse(problems: Sequence[str], *, where: str = "") -> None:
    """Raise one error for all problems; do nothing if there are none.

    Raises:
        ConfigError: one line for one problem, a count and a list for several.
    """
    if not problems:
        return
    prefix = f"{where}: " if where else ""
    if len(problems) == 1:
        raise ConfigError(prefix + problems[0])
    lines = "".join(f"\n  {problem}" for problem in problems)
    raise ConfigError(f"{prefix}{len(problems)} problems{lines}")


def _contradictions(run: RunSpec) -> list[str]:
    found = _unreadable_sentences(run)
    if isinstance(run.model, ModelSpec):
        found += _idle_settings(run.model)
        found += _short_shortlist(run, run.model)
    train, decode = run.train, run.decode
    if train.best_by == "rouge" and train.rouge_pairs == 0:
        found.append(
            "train.best_by is 'rouge', but train.rouge_pairs is 0, so there is no ROUGE to go by; "
            "expected 1 or more"
        )
    if train.objective == "risk" and train.label_smoothing > 0:
        found.append(
            f"train.label_smoothing is {train.label_smoothing}, but train.objective is 'risk', "
            "which smooths nothing; set it to 0"
        )
    if train.objective == "risk" and run.data.max_summary_words > _MOST_REWARDED_WORDS:
        found.append(
            f"data.max_summary_words is {run.data.max_summary_words}; expected at most "
            f"{_MOST_REWARDED_WORDS}, since train.objective is 'risk'"
        )
    if decode.min_words > decode.max_words:
        found.append(
            f"decode.min_words is {decode.min_words}; "
            f"expected at most decode.max_words, which is {decode.max_words}"
        )
    if 0 < decode.max_bytes < decode.min_bytes:
        found.append(
            f"decode.min_bytes is {decode.min_bytes}; "
            f"expected at most decode.max_bytes, which is {decode.max_bytes}"
        )
    return found


def _unreadable_sentences(run: RunSpec) -> list[str]:
    """Say where the network cannot read as many sentences as it would be given."""
    model, data, found = run.model, run.data, []
    if not isinstance(model, ModelSpec):
        if data.num_sentences > 1 and not data.join_sentences:
            found.append(
                f"data.num_sentences is {data.num_sentences}, but this network reads one sequence; "
                "set data.join_sentences to true"
            )
    elif isinstance(model.encoder, HierarchicalSpec):
        if data.num_sentences < 2:
            found.append(
                f"data.num_sentences is {data.num_sentences}; "
                "expected 2 or more, since model.encoder reads several sentences"
            )
        if data.join_sentences:
            found.append(
                "data.join_sentences is True, but model.encoder reads each sentence on its own; "
                "set it to false"
            )
    elif data.num_sentences > 1 and not data.join_sentences:
        found.append(
            f"data.num_sentences is {data.num_sentences}, but model.encoder reads one sequence; "
            "set data.join_sentences to true, or model.encoder.kind to 'hierarchical'"
        )
    return found


def _short_shortlist(run: RunSpec, model: ModelSpec) -> list[str]:
    """Say where the words of one text would not fit on the shortlist."""
    needed = _NUM_RESERVED + run.data.num_sentences * run.data.max_source_words
    if run.data.join_sentences:
        needed = _NUM_RESERVED + run.data.max_source_words
    if not 0 < model.shortlist_size < needed:
        return []
    return [
        f"model.shortlist_size is {model.shortlist_size}; expected {needed} or more, room for "
        "every word of a source and the four reserved ones, or 0 for no shortlist"
    ]


def _idle_settings(model: ModelSpec) -> list[str]:
    """Name settings that change nothing: an ablation over one of them would mislead."""
    found, encoder = [], model.encoder
    if model.copied_words != "place" and model.output != "copy":
        found.append(
            f"model.copied_words is {model.copied_words!r}, but model.output is {model.output!r}; "
            "set model.output to 'copy', or copied_words to 'place'"
        )
    if isinstance(encoder, OnePassSpec) or encoder.cell == "gru":
        return found
    return found + [
        f"model.encoder.{name} is {getattr(encoder, name)!r}, but an LSTM reads again "
        f"without importance weights; set model.encoder.cell to 'gru', or {name} to {printed!r}"
        for name, printed in (("importance", "vector"), ("importance_activation", "tanh"))
        if getattr(encoder, name) != printed
    ]
