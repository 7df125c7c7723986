"""Options that several commands take: each has one name, one meaning and one line of help."""

import inspect
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from readagain.config.fields import SpecField
from readagain.config.options import OPTIONS
from readagain.rouge.options import PROTOCOLS

SUMMARY, READING, WRITING, RUNNING = "Summary", "Reading", "Writing", "Running"
"""The parts that a long --help is divided into."""


def check_threads(threads: int | None) -> int | None:
    """Find out before any work, for every command alike, that there are too many or none."""
    from readagain.processors import num_threads

    if threads is not None:
        num_threads(threads)
    return threads


def check_workers(workers: int) -> int:
    """Find out likewise about processes; what 0 or less means is up to each command."""
    from readagain.processors import check_parallelism

    if workers > 0:
        check_parallelism("workers", workers)
    return workers


def _check_threads_or_zero(threads: int) -> int:
    check_threads(threads or None)
    return threads


# Which model, and what its summaries are like.

Model = Annotated[str, typer.Option("--model", "-m", help="A bundled model, or a model folder.")]


def decoding_options(
    *names: str, default: str = "from the model"
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return a decorator that gives a command the options of `SummarizeOptions`.

    The command takes them as `**decoding: Unpack[SummarizeOptions]`; Typer sees one parameter per
    option.

    Args:
        names: which options; all but `explain`, which is a command, unless given.
        default: where unset decode settings come from, for the help text.
    """
    chosen = names or tuple(name for name in OPTIONS if name != "explain")

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        added = [_parameter(OPTIONS[name], default) for name in chosen]
        own = list(inspect.signature(command).parameters.values())[:-1]
        first = next(n for n, each in enumerate(own) if each.kind is each.KEYWORD_ONLY)
        parameters = [*own[:first], *added, *own[first:]]
        command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        command.__annotations__ = {each.name: each.annotation for each in parameters}
        return command

    return decorate


def _parameter(option: SpecField, default: str) -> inspect.Parameter:
    flag = "--" + option.name.replace("_", "-")
    shown = default if option.default is None and option.value_type in (int, float) else True
    declared = typer.Option(
        flag,
        help=option.help,
        metavar="|".join(option.choices) or None,
        show_default=shown,
        rich_help_panel=SUMMARY,
    )
    value_type = option.value_type | None if option.default is None else option.value_type
    return inspect.Parameter(
        option.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=option.default,
        annotation=Annotated[value_type, declared],
    )


# What is read.

TextFormat = Annotated[
    str | None,
    typer.Option(
        "--format",
        help="text, lines (one text a line), jsonl, csv or parquet; told by the name of a file "
        "unless given.",
        rich_help_panel=READING,
        show_default=False,
    ),
]
TextColumn = Annotated[
    str | None,
    typer.Option(
        help="The field or column that holds the text; guessed unless given.",
        rich_help_panel=READING,
    ),
]
HeadlineColumn = Annotated[
    str | None,
    typer.Option(
        help="The field or column that holds the headline; guessed unless given.",
        rich_help_panel=READING,
    ),
]
Headlines = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Text file whose line n is the headline of line n of the texts.",
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
        help="Texts are in Gigaword form (lower case, words between spaces, # for digits), or are "
        "not; parallel files say it themselves.",
        rich_help_panel=READING,
        show_default=False,
    ),
]
Split = Annotated[
    str | None,
    typer.Option(
        help="train, dev or test, where a folder holds several; of a prepared corpus dev unless "
        "given.",
        rich_help_panel=READING,
    ),
]
Limit = Annotated[
    int | None, typer.Option(metavar="N", help="Only the first rows.", rich_help_panel=READING)
]

# What is written.

SummaryField = Annotated[
    str,
    typer.Option("--field", help="The field that gets the summary.", rich_help_panel=WRITING),
]

# How it is scored, changed and computed.

RougeProtocol = Annotated[
    str,
    typer.Option(
        "--protocol", metavar="NAME", help=f"One of {', '.join(PROTOCOLS)}: search and scores."
    ),
]
Changes = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="Change a setting; may be repeated."),
]
Threads = Annotated[
    int | None,
    typer.Option(
        help="Threads; all processors if unset.", rich_help_panel=RUNNING, callback=check_threads
    ),
]
TrainingThreads = Annotated[
    int,
    typer.Option(
        "--threads",
        help="Threads on a CPU; 0 chooses: one for a narrow network.",
        rich_help_panel=RUNNING,
        callback=_check_threads_or_zero,
    ),
]
Precision = Annotated[
    str | None,
    typer.Option(
        metavar="int8|float32", help="The faster one there is if unset.", rich_help_panel=RUNNING
    ),
]


class DeviceName(StrEnum):
    """Where networks are trained."""

    AUTO = "auto"
    CPU = "cpu"
    CUDA = "cuda"


Device = Annotated[
    DeviceName,
    typer.Option(help="Where to compute; auto prefers a GPU.", rich_help_panel=RUNNING),
]
