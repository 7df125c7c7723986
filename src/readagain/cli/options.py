"""Options that several commands take: each has one name, one meaning and one line of help."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from readagain.rouge.protocol import PROTOCOLS

READING, SEARCHING, WRITING, RUNNING = "Reading", "Searching", "Writing", "Running"
"""The parts that a long --help is divided into."""


def check_threads(threads: int | None) -> int | None:
    """Find out before any work, for every command alike, that there are too many or none."""
    from readagain.processors import num_threads

    if threads is not None:
        num_threads(threads)
    return threads


def check_workers(workers: int) -> int:
    """Find out likewise about processes; what 0 or less means is up to each command."""
    from readagain.processors import check_shared

    if workers > 0:
        check_shared("workers", workers)
    return workers


def _check_threads_or_zero(threads: int) -> int:
    check_threads(threads or None)
    return threads


# Which model, and what its summaries are like.

Model = Annotated[str, typer.Option("--model", "-m", help="A bundled model, or a model folder.")]
MaxWords = Annotated[int | None, typer.Option(help="The most words of a summary.")]
MinWords = Annotated[int | None, typer.Option(help="The fewest words.")]
MinBytes = Annotated[
    int | None, typer.Option(help="The fewest bytes of its words, without spaces.")
]
MaxBytes = Annotated[int | None, typer.Option(help="The most bytes, as printed.")]
Beam = Annotated[
    int | None, typer.Option(help="Beginnings followed side by side; the model's own if unset.")
]
Diversity = Annotated[
    float | None,
    typer.Option(help="How much several summaries should differ; 1 is a lot."),
]
Begin = Annotated[
    str | None,
    typer.Option(
        metavar="WORDS",
        help='Words that every summary begins with, as in --begin "Police say"; limits count them.',
        show_default=False,
    ),
]
Capitals = Annotated[
    str,
    typer.Option(
        "--case",
        metavar="sentence|headline|plain",
        help="Capitals as in a sentence, as in a headline, or as the words have them.",
    ),
]

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
Tokenized = Annotated[
    bool,
    typer.Option(
        "--tokenized",
        help="Texts are in Gigaword form (lower case, words between spaces, # for digits), and "
        "summaries stay in it.",
        rich_help_panel=READING,
    ),
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
