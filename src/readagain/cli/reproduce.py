"""`readagain reproduce`: the paper's tables and figures, rebuilt beside the paper's numbers."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from readagain.cli import options
from readagain.cli.options import RUNNING

if TYPE_CHECKING:
    from readagain.experiments.runner import ReproduceResult

TRAINING, SCORING = "Training", "Scoring"


class Scale(StrEnum):
    """How large networks are."""

    PAPER = "paper"
    SMALL = "small"


class Recipe(StrEnum):
    """How rows are trained."""

    MODERN = "modern"
    PAPER = "paper"


def command(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="NAME",
            help="Tables (table1 to table5, importance, ablations) or rows; all unless given.",
        ),
    ] = None,
    *,
    out: Annotated[
        Path,
        typer.Option(
            "--out", "-o", metavar="FOLDER", help="Folder of results; finished rows stay."
        ),
    ],
    data: Annotated[
        Path | None,
        typer.Option(
            "--data",
            "-d",
            metavar="FOLDER",
            help="Prepared corpus: rows are trained on its train split, scored on its dev split. "
            "With --scale small an invented one unless given.",
            rich_help_panel=TRAINING,
        ),
    ] = None,
    scale: Annotated[
        Scale,
        typer.Option(
            help="The paper's sizes, or tiny ones that run anywhere in minutes.",
            rich_help_panel=TRAINING,
        ),
    ] = Scale.PAPER,
    recipe: Annotated[
        list[Recipe] | None,
        typer.Option(
            help="How rows are trained: AdamW, or as in the "
            "paper; may be repeated. modern unless given.",
            rich_help_panel=TRAINING,
        ),
    ] = None,
    seeds: Annotated[
        int,
        typer.Option(
            min=1, help="Seeds of each main row; others have one.", rich_help_panel=TRAINING
        ),
    ] = 1,
    epochs: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Instead of the recipe's; written down with the results.",
            rich_help_panel=TRAINING,
        ),
    ] = None,
    test: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=FOLDER",
            help="Another set to score on: all that 'readagain evaluate --data' reads; may be "
            "repeated. Several references for a text mean the DUC protocol.",
            rich_help_panel=SCORING,
        ),
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=1, help="Only the first texts of each set.", rich_help_panel=SCORING
        ),
    ] = None,
    rows_only: Annotated[
        bool,
        typer.Option(
            "--rows-only",
            help="Write no tables: for machines whose rows are put together elsewhere.",
            rich_help_panel=RUNNING,
        ),
    ] = False,
    tables_only: Annotated[
        bool,
        typer.Option(
            "--tables-only",
            help="Run nothing: write the tables from the rows that are there.",
            rich_help_panel=RUNNING,
        ),
    ] = False,
    page: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Also publish: write results.md between the marks of this Markdown file, and the "
            "figures, without any text, into a folder beside it.",
            rich_help_panel=RUNNING,
        ),
    ] = None,
    budget: Annotated[
        float | None,
        typer.Option(
            metavar="MINUTES",
            help="Begin no row that would not be finished by then.",
            rich_help_panel=RUNNING,
        ),
    ] = None,
    keep_weights: Annotated[
        bool,
        typer.Option(
            "--keep-weights",
            help="Leave the model folders of finished rows in FOLDER/work.",
            rich_help_panel=RUNNING,
        ),
    ] = False,
    device: options.Device = options.DeviceName.AUTO,
    threads: options.TrainingThreads = 0,
) -> None:
    """Train, score and tabulate the rows of the paper, as many as are missing.

    Killed or interrupted, it goes on where it stopped when the same command is given again.
    """
    from readagain.cli.output import lasting_console
    from readagain.errors import ConfigError, require

    tests = _tests(test or [])
    if rows_only and (tables_only or page is not None):
        raise ConfigError("--rows-only writes no tables; leave out --tables-only and --page")
    has_failed = False
    if tables_only:
        from readagain.experiments.report import write_report

        for problem in write_report(out):
            print(problem)
    else:
        require("torch", extra="train", purpose="training rows")
        require("safetensors", extra="train", purpose="training rows")
        from readagain.experiments.reproduce import reproduce
        from readagain.experiments.request import Request

        request = Request(
            names=tuple(names or ()),
            out=out,
            data=data,
            tests=tests,
            scale=scale.value,
            recipes=[each.value for each in recipe or [Recipe.MODERN]],
            seeds=seeds,
            epochs=epochs,
            budget=budget,
            limit=limit,
            device_name=device.value,
            threads=threads,
            keep_weights=keep_weights,
            rows_only=rows_only,
        )
        outcome = reproduce(request, lasting_console())
        _print_outcome(outcome)
        has_failed = bool(outcome.failed)
    if (out / "results.md").exists() and not rows_only:  # not after a call that finished nothing
        print(f"{out / 'results.md'}: tables and claims; {out / 'tables'}: each by itself")
    if page is not None:
        from readagain.experiments.publish import publish

        print(f"{page}: written; figures in {publish(out, page)}")
    if has_failed:
        raise typer.Exit(1)


def _tests(options: list[str]) -> dict[str, Path]:
    """Read `--test NAME=FOLDER` options.

    Raises:
        ConfigError: for one without a name, or for a name given twice.
    """
    from readagain.errors import ConfigError

    tests: dict[str, Path] = {}
    for option in options:
        name, separator, path = option.partition("=")
        # A comma in the name of a set says which part of a corpus it is.
        if not separator or not name or not path or "," in name:
            raise ConfigError(
                f"--test {option!r}: expected NAME=FOLDER, for example duc2003=data/duc2003, with "
                "no comma in the name"
            )
        if name in tests:
            raise ConfigError(f"--test: two sets are called '{name}'; name them apart")
        tests[name] = Path(path)
    return tests


def _print_outcome(outcome: "ReproduceResult") -> None:
    if outcome.unknown:
        print(f"not in this version of readagain: {', '.join(outcome.unknown)}")
    if outcome.failed:
        print(f"failed, see above: {', '.join(outcome.failed)}")
    print(f"rows done now: {len(outcome.done)}, there before: {len(outcome.there)}")
    if outcome.is_interrupted:
        print("stopped and saved; to go on, give the same command again")
    elif outcome.left:
        print(
            f"left for lack of time: {', '.join(outcome.left)}; to go on, give the same command "
            "again"
        )
