"""Options shared by several commands."""

import inspect
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal

import typer

from readagain.config.fields import SpecField, spec_fields
from readagain.config.options import OPTIONS
from readagain.errors import as_option
from readagain.rouge.options import PROTOCOLS

SUMMARY, READING, WRITING, RUNNING = "Summary", "Reading", "Writing", "Running"
"""Panels of --help."""


def check_threads(threads: int | None) -> int | None:
    """Check the number of threads before any work."""
    from readagain.processors import num_threads

    if threads is not None:
        num_threads(threads)
    return threads


def check_workers(workers: int) -> int:
    """Check the number of processes; each command defines the meaning of 0 or less."""
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
    """Return a decorator that gives a command the options of `SummarizeOptions`.

    The command takes them as `**decoding: Unpack[SummarizeOptions]`; Typer sees one parameter per
    option.

    Args:
        names: names of the options; by default all but `explain`, which is a command.
        default: where unset decode settings come from, for the help text.
    """
    chosen = names or tuple(name for name in OPTIONS if name != "explain")

    return _add_parameters([_parameter(OPTIONS[name], default) for name in chosen])


def spec_options(
    spec: object, panel: str, *, exclude: Sequence[str] = ()
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return a decorator that gives a command one option for each field of a dataclass.

    The command takes them as keyword arguments.

    Args:
        spec: instance with the default values; its class has the types and help texts.
        panel: heading in the help text.
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
    added: list[inspect.Parameter],
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return a decorator that replaces `**kwargs` of a command by parameters that Typer sees."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        own = list(inspect.signature(command).parameters.values())[:-1]
        first = next(n for n, each in enumerate(own) if each.kind is each.KEYWORD_ONLY)
        parameters = [*own[:first], *added, *own[first:]]
        command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        command.__annotations__ = {each.name: each.annotation for each in parameters}
        return command

    return decorate


def _parameter(option: SpecField, default: str, panel: str = SUMMARY) -> inspect.Parameter:
    flag = as_option(option.name)
    if option.default is True:
        flag += f"/--no-{flag[2:]}"
    shown = default if option.default is None and option.value_type in (int, float) else True
    declared = typer.Option(
        flag,
        help=option.help,
        metavar="|".join(option.choices) or None,
        show_default=shown,
        rich_help_panel=panel,
    )
    value_type = option.value_type | None if option.default is None else option.value_type
    return inspect.Parameter(
        option.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=option.default,
        annotation=Annotated[value_type, declared],
    )


# Input.

TextFormat = Annotated[
    str | None,
    typer.Option(
        "--format",
        help="Format: text, lines (one text per line), jsonl, csv or parquet (default: by name).",
        rich_help_panel=READING,
        show_default=False,
    ),
]
TextColumn = Annotated[
    str | None,
    typer.Option(
        help="Field or column of the text (default: detected).",
        rich_help_panel=READING,
    ),
]
HeadlineColumn = Annotated[
    str | None,
    typer.Option(
        help="Field or column of the headline (default: detected).",
        rich_help_panel=READING,
    ),
]
Headlines = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Text file with the headline of each line of the texts.",
        rich_help_panel=READING,
    ),
]
Encoding = Annotated[
    str, typer.Option(help="Encoding of text, JSONL and CSV.", rich_help_panel=READING)
]
TokenizedOrRaw = Annotated[
    bool | None,
    typer.Option(
        "--tokenized/--raw",
        help="Texts are in Gigaword form (lower-case tokens, # for digits) or raw; detected for "
        "parallel files.",
        rich_help_panel=READING,
        show_default=False,
    ),
]
Split = Annotated[
    str | None,
    typer.Option(
        help="Split: train, dev or test, for a directory with several (default: dev for a prepared "
        "corpus).",
        rich_help_panel=READING,
    ),
]
Limit = Annotated[
    int | None, typer.Option(metavar="N", help="Maximum number of rows.", rich_help_panel=READING)
]

# Output.

SummaryField = Annotated[
    str,
    typer.Option("--field", help="Field for the summary.", rich_help_panel=WRITING),
]

# Scoring, settings and resources.

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
    typer.Option(
        help="Number of threads (default: all processors).",
        rich_help_panel=RUNNING,
        callback=check_threads,
    ),
]
TrainingThreads = Annotated[
    int,
    typer.Option(
        "--threads",
        help="Number of CPU threads; 0 chooses by network size.",
        rich_help_panel=RUNNING,
        callback=_check_threads_or_zero,
    ),
]
Precision = Annotated[
    str | None,
    typer.Option(
        metavar="int8|float32",
        help="Precision of the graphs (default: int8 if available).",
        rich_help_panel=RUNNING,
    ),
]


Device = Annotated[
    Literal["auto", "cpu", "cuda"],
    typer.Option(help="Device; auto prefers a GPU.", rich_help_panel=RUNNING),
]
