"""Validation of a run; all problems are reported together."""

from collections.abc import Sequence

from readagain.config.fields import walk_fields
from readagain.config.schema import HierarchicalSpec, ModelSpec, OnePassSpec, RunSpec
from readagain.errors import ArgumentError, ConfigError

_MAX_HIERARCHICAL_WORDS = 8000  # in all sentences of a text
_NUM_SPECIAL_TOKENS = 4  # len(SPECIAL_TOKENS) of text.vocab, which config must not import
# training.risk stores one bit of an int64 for each word of a reference and for EOS: 63 in all.
_MAX_RISK_WORDS = 62


def validate_run(run: RunSpec) -> None:
    """Check every setting of a run; raise one `ConfigError` for all problems."""
    raise_problems(find_problems(run))


def find_problems(run: RunSpec) -> list[str]:
    """Return a message for each invalid setting.

    If all are valid, return a message for each contradiction between two settings.
    """
    errors = [
        f"{name} {error}"
        for name, field, value in walk_fields(run)
        if (error := field.validation_error(value)) is not None
    ]
    return errors or _contradictions(run)


def raise_problems(problems: Sequence[str], *, where: str = "", argument: str = "") -> None:
    """Raise one `ConfigError` for all problems; do nothing if there are none.

    `where` is the file or folder with the problems, or `argument` the argument with the problems.
    """
    if not problems:
        return
    message = problems[0]
    if len(problems) > 1:
        lines = "".join(f"\n  {problem}" for problem in problems)
        message = f"{len(problems)} problems{lines}"
    if argument:
        raise ArgumentError(f"{{{argument}}}: {{0}}", message)
    raise ConfigError(f"{where}: {message}" if where else message)


def _contradictions(run: RunSpec) -> list[str]:
    """Return a message for each setting that contradicts another one."""
    train, decode = run.train, run.decode
    problems = _sentence_problems(run)
    if isinstance(run.model, ModelSpec):
        problems += _network_problems(run, run.model)
    if train.best_by == "rouge" and train.rouge_pairs == 0:
        problems.append(
            "train.best_by is 'rouge', but train.rouge_pairs is 0, so ROUGE is not computed; "
            "expected 1 or more"
        )
    if train.objective == "risk" and train.label_smoothing > 0:
        problems.append(
            f"train.label_smoothing is {train.label_smoothing}, but has no effect with "
            "train.objective 'risk'; set it to 0"
        )
    if train.objective == "risk" and run.data.max_summary_words > _MAX_RISK_WORDS:
        problems.append(
            f"data.max_summary_words is {run.data.max_summary_words}; expected at most "
            f"{_MAX_RISK_WORDS}, since train.objective is 'risk'"
        )
    for unit in ("words", "bytes"):
        minimum, maximum = getattr(decode, f"min_{unit}"), getattr(decode, f"max_{unit}")
        if 0 < maximum < minimum:  # 0 is no limit
            problems.append(
                f"decode.min_{unit} is {minimum}; "
                f"expected at most decode.max_{unit}, which is {maximum}"
            )
    return problems


def _sentence_problems(run: RunSpec) -> list[str]:
    """Return a message for each setting of `data` that the encoder does not support."""
    model, data, problems = run.model, run.data, []
    is_hierarchical = isinstance(model, ModelSpec) and isinstance(model.encoder, HierarchicalSpec)
    if is_hierarchical:
        if data.num_sentences < 2:
            problems.append(
                f"data.num_sentences is {data.num_sentences}; "
                "expected 2 or more, since model.encoder reads several sentences"
            )
        if data.join_sentences:
            problems.append(
                "data.join_sentences is True, but model.encoder reads sentences separately; "
                "set it to false"
            )
        if data.num_sentences * data.max_source_words > _MAX_HIERARCHICAL_WORDS:
            problems.append(
                f"data.num_sentences is {data.num_sentences} and data.max_source_words is "
                f"{data.max_source_words}; expected at most {_MAX_HIERARCHICAL_WORDS:,} words in "
                "all sentences"
            )
    elif data.num_sentences > 1 and not data.join_sentences:
        hint = ", or model.encoder.kind to 'hierarchical'" if isinstance(model, ModelSpec) else ""
        problems.append(
            f"data.num_sentences is {data.num_sentences}, but the encoder reads one sequence; "
            f"set data.join_sentences to true{hint}"
        )
    return problems


def _network_problems(run: RunSpec, model: ModelSpec) -> list[str]:
    """Return a message for each setting of the network that is too small or has no effect."""
    problems, encoder = [], model.encoder
    num_sequences = 1 if run.data.join_sentences else run.data.num_sentences
    min_size = _NUM_SPECIAL_TOKENS + num_sequences * run.data.max_source_words
    if 0 < model.shortlist_size < min_size:
        problems.append(
            f"model.shortlist_size is {model.shortlist_size}; expected {min_size} or more, for all "
            "words of a source and the four special tokens, or 0 for no shortlist"
        )
    if model.copied_words != "place" and model.output != "copy":
        problems.append(
            f"model.copied_words is {model.copied_words!r}, but model.output is {model.output!r}; "
            "set model.output to 'copy', or copied_words to 'place' (the default)"
        )
    if isinstance(encoder, OnePassSpec) or encoder.cell == "gru":
        return problems
    return problems + [
        f"model.encoder.{name} is {getattr(encoder, name)!r}, but a Read-Again LSTM has no "
        f"importance weights; set model.encoder.cell to 'gru', or {name} to {default!r}"
        for name, default in (("importance", "vector"), ("importance_activation", "tanh"))
        if getattr(encoder, name) != default
    ]
