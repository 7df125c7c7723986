"""Options shared by several commands."""

import inspect
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Literal

import typer

from readagain.config.fields import SpecField, spec_fields
from readagain.config.options import OPTIONS
from readagain.errors import as_option
from readagain.formats.records import OnError
from readagain.rouge.options import PROTOCOLS

# Options under a heading in --help.
reading_option = partial(typer.Option, rich_help_panel="Reading")
writing_option = partial(typer.Option, rich_help_panel="Writing")
running_option = partial(typer.Option, rich_help_panel="Running")


def check_threads(threads: int | None) -> int | None:
    """Check the number of threads, as the callback of an option."""
    from readagain.processors import num_threads

    if threads is not None:
        num_threads(threads)
    return threads


def check_workers(workers: int) -> int:
    """Check the number of processes; each command handles 0 and negative numbers itself."""
    from readagain.processors import check_parallelism

    if workers > 0:
        check_parallelism("workers", workers)
    return workers


def _check_threads_or_zero(threads: int) -> int:
    check_threads(threads or None)
    return threads


Model = Annotated[
    str, typer.Option("--model", "-m", help="Name of a bundled model, or model directory.")
]


def decoding_options(
    *names: str, default: str = "from the model"
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return a decorator that adds options of `SummarizeOptions` to a command.

    The command receives them as `**decoding: Unpack[SummarizeOptions]`.

    Args:
        names: names of the options; by default all but `explain`, which is a command.
        default: where unset decode settings come from, for the help text.
    """
    names = names or tuple(name for name in OPTIONS if name != "explain")
    return _add_parameters([_parameter(OPTIONS[name], default) for name in names])


def spec_options(
    spec: object, panel: str, *, exclude: Sequence[str] = ()
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return a decorator that adds one option for each field of a dataclass to a command.

    The command receives them as keyword arguments.

    Args:
        spec: instance with the default values; its class has the types and help texts.
        panel: heading of these options in the help text.
        exclude: fields without an option.
    """
    return _add_parameters(
        [
            _parameter(replace(field, default=getattr(spec, name)), "none", panel)
            for name, field in spec_fields(type(spec)).items()
            if name not in exclude
        ]
    )


def _add_parameters(
    new: list[inspect.Parameter],
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return a decorator that replaces the `**kwargs` of a command by new keyword parameters.

    Typer reads the signature and the annotations. The new parameters come before the command's own
    keyword parameters, and so do their options in --help.
    """

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        *own, _ = inspect.signature(command).parameters.values()
        arguments = [each for each in own if each.kind is not each.KEYWORD_ONLY]
        keywords = [each for each in own if each.kind is each.KEYWORD_ONLY]
        parameters = [*arguments, *new, *keywords]
        command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        return command

    return decorate


def _parameter(option: SpecField, default: str, panel: str = "Summary") -> inspect.Parameter:
    """Return the parameter from which Typer builds an option.

    Args:
        option: the field that the option sets.
        default: help text for the default of a number that is unset.
        panel: heading of the option in the help text.
    """
    flag = as_option(option.name)
    if option.default is True:
        flag += f"/--no-{flag[2:]}"
    is_unset_number = option.default is None and option.value_type in (int, float)
    typer_option = typer.Option(
        flag,
        help=option.help,
        metavar="|".join(option.choices) or None,
        show_default=default if is_unset_number else True,
        rich_help_panel=panel,
    )
    value_type = option.value_type | None if option.default is None else option.value_type
    return inspect.Parameter(
        option.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=option.default,
        annotation=Annotated[value_type, typer_option],
    )


# Options for reading inputs.

TextFormat = Annotated[
    str | None,
    reading_option(
        "--format",
        help="Format: text, lines (one text per line), jsonl, csv or parquet (default: by name).",
        show_default=False,
    ),
]
TextColumn = Annotated[
    str | None, reading_option(help="Field or column of the text (default: detected).")
]
HeadlineColumn = Annotated[
    str | None, reading_option(help="Field or column of the headline (default: detected).")
]
Headlines = Annotated[
    Path | None,
    reading_option(metavar="FILE", help="File of headlines, one for each line of the texts file."),
]
Encoding = Annotated[str, reading_option(help="Encoding of text, JSONL and CSV.")]
TokenizedOrRaw = Annotated[
    bool | None,
    reading_option(
        "--tokenized/--raw",
        help="Texts are tokenized as in Gigaword (lower case, # for digits) or raw; detected for "
        "parallel files.",
        show_default=False,
    ),
]
Split = Annotated[
    str | None,
    reading_option(
        help="Split: train, dev or test, for a directory with several (default: dev for a prepared "
        "corpus)."
    ),
]
Limit = Annotated[int | None, reading_option(metavar="N", help="Maximum number of rows.")]

OnErrorOption = Annotated[
    OnError,
    reading_option(
        "--on-error",
        help="Invalid records: skip them, report their number and keep their content, or stop at "
        "the first.",
    ),
]

# Options for writing outputs.

SummaryField = Annotated[str, writing_option("--field", help="Field for the summary.")]
AsJson = Annotated[bool, typer.Option("--json", help="JSON output.")]

# Options for scoring, settings and resources.

RougeProtocol = Annotated[
    str,
    typer.Option(
        "--protocol", metavar="NAME", help=f"One of {', '.join(PROTOCOLS)}: search and scores."
    ),
]
Changes = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="Override of a setting; may be repeated."),
]
Threads = Annotated[
    int | None,
    running_option(help="Number of threads (default: all processors).", callback=check_threads),
]
TrainingThreads = Annotated[
    int,
    running_option(
        "--threads",
        help="Number of CPU threads; 0 chooses by network size.",
        callback=_check_threads_or_zero,
    ),
]
Precision = Annotated[
    str | None,
    running_option(
        metavar="int8|float32", help="Precision of the graphs (default: int8 if available)."
    ),
]
Device = Annotated[
    Literal["auto", "cpu", "cuda"], running_option(help="Device; auto prefers a GPU.")
]
