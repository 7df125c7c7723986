"""Options of one `summarize` call.

The keywords of `Summarizer.summarize`, the command-line options and the fields of an HTTP request
are all derived from `SummarizeOptions`.
"""

from collections.abc import Mapping
from dataclasses import replace
from numbers import Integral
from typing import Annotated, Any, Literal, TypedDict, cast

from readagain.config.fields import Default, Range, SpecField, spec_fields
from readagain.config.schema import DecodeSpec
from readagain.errors import ArgumentError, quoted

Fallback = Literal["none", "sentence"]
Case = Literal["sentence", "headline", "plain"]


class SummarizeOptions(TypedDict, total=False):
    """Keyword options of `Summarizer.summarize`.

    An option that is also a field of `DecodeSpec` overrides the setting of the model; None keeps
    that setting. Its range and help text are those of the field.
    """

    max_words: int | None
    min_words: int | None
    min_bytes: int | None
    max_bytes: int | None
    beam: int | None
    n_best: Annotated[int, Range(1), Default(1)]
    """Number of summaries per text, best first, each with its score; at most the beam size."""
    diversity: float | None
    style: str | None
    explain: Annotated[bool, Default(False)]
    """Also return attention and importance weights."""
    case: Annotated[Case, Default("sentence")]
    """Capitalization: of a sentence, of a headline, or as in the source."""
    tokenized: Annotated[bool, Default(False)]
    """Input tokenized as in Gigaword (lower case, # for digits); summaries have the same form."""
    min_confidence: Annotated[float, Range(0.0, 1.0), Default(0.0)]
    """Minimum confidence; a summary with less is replaced by the fallback."""
    fallback: Annotated[Fallback, Default("none")]
    """Replacement of a summary below min_confidence: none (empty), or a shortened sentence."""
    begin: Annotated[str | None, Default(None)]
    """Words that every summary starts with; they count towards the limits."""


_DECODE_NAMES = {"beam": "beam_size"}
"""Options whose field of `DecodeSpec` has another name."""


def _build_options() -> dict[str, SpecField]:
    settings = spec_fields(DecodeSpec)
    options = {}
    for name, option in spec_fields(SummarizeOptions).items():
        decode_name = _DECODE_NAMES.get(name, name)
        if decode_name in settings:
            option = replace(settings[decode_name], name=name, default=None)
        options[name] = option
    return options


OPTIONS: dict[str, SpecField] = _build_options()
"""Name, type, range, default and help text of every option."""


def with_defaults(options: SummarizeOptions) -> SummarizeOptions:
    """Return `options` with the default of each option that is missing."""
    defaults = {name: option.default for name, option in OPTIONS.items()}
    return cast(SummarizeOptions, defaults | options)


def decode_overrides(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that override settings of the model, by field of `DecodeSpec`.

    An unknown option is a `TypeError`; one `ArgumentError` names all invalid values.
    """
    problems = {}
    overrides: dict[str, Any] = {}
    settings = spec_fields(DecodeSpec)
    for name, value in options.items():
        if name not in OPTIONS:
            raise TypeError(f"unknown option {name!r}; expected one of {', '.join(OPTIONS)}")
        option, decode_name = OPTIONS[name], _DECODE_NAMES.get(name, name)
        if value is None and option.default is None:
            continue
        # Convert integers, including those of NumPy, to the type of the option.
        if isinstance(value, Integral) and not isinstance(value, bool):
            value = option.value_type(value) if option.value_type in (int, float) else value
        problem = option.validation_error(value)
        if problem is not None:
            problems[name] = problem
        if decode_name in settings:
            overrides[decode_name] = value
    if problems:
        message = "; ".join(f"{{{name}}} {{{index}}}" for index, name in enumerate(problems))
        raise ArgumentError(message, *problems.values())
    return overrides


def override_decode(decode: DecodeSpec, overrides: Mapping[str, Any]) -> DecodeSpec:
    """Return `decode` with some settings replaced.

    If `overrides` sets a maximum below the minimum of `decode`, the minimum is lowered to the
    maximum, unless `overrides` sets the minimum. A maximum of 0 means that there is no limit.
    """
    result = replace(decode, **overrides)
    for unit in ("words", "bytes"):
        min_name, max_name = f"min_{unit}", f"max_{unit}"
        minimum, maximum = getattr(result, min_name), getattr(result, max_name)
        if not 0 < maximum < minimum:
            continue
        if min_name in overrides or max_name not in overrides:
            raise ArgumentError(
                f"{{{min_name}}} is {{0}}; expected at most {{{max_name}}}, which is {{1}}",
                minimum,
                maximum,
            )
        result = replace(result, **{min_name: maximum})
    return result


def resolve_decode(decode: DecodeSpec, options: SummarizeOptions) -> DecodeSpec:
    """Return the settings of the model, `decode`, with the options of one call applied."""
    resolved = override_decode(decode, decode_overrides(options))
    options = with_defaults(options)
    if options["n_best"] > resolved.beam_size:
        raise ArgumentError(
            "{n_best} is {0}; expected 1 to {1}, the beam size",
            quoted(options["n_best"]),
            resolved.beam_size,
        )
    if options["begin"] and options["fallback"] != "none":
        raise ArgumentError("{fallback}: conflicts with {begin}; use one of them")
    return resolved
