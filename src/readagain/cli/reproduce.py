"""`readagain reproduce`: rebuild the paper's tables and figures."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from readagain.cli import options
from readagain.cli.options import RUNNING

if TYPE_CHECKING:
    from readagain.experiments.reproduce import ReproduceResult

TRAINING, SCORING = "Training", "Scoring"


class Scale(StrEnum):
    """Size of the networks."""

    PAPER = "paper"
    SMALL = "small"


class Recipe(StrEnum):
    """Training recipe."""

    MODERN = "modern"
    PAPER = "paper"


def command(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="NAME",
            help="Tables (table1 to table5, importance, ablations) or rows (default: all).",
        ),
    ] = None,
    *,
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="FOLDER", help="Directory of the results.")
    ],
    data: Annotated[
        Path | None,
        typer.Option(
            "--data",
            "-d",
            metavar="FOLDER",
            help="Prepared corpus with a train split to train on and a dev split to score on "
            "(default with --scale small: an invented one).",
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
            help="Training recipe: AdamW, or as in the paper; can be repeated (default: modern).",
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
            min=1, help="Number of epochs (default: from the recipe).", rich_help_panel=TRAINING
        ),
    ] = None,
    test: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=FOLDER",
            help="Another data set to score on, as for 'readagain evaluate --data'; can be "
            "repeated. Data sets with several references are scored by the DUC protocol.",
            rich_help_panel=SCORING,
        ),
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            help="Number of texts of each data set, from its start.",
            rich_help_panel=SCORING,
        ),
    ] = None,
    rows_only: Annotated[
        bool,
        typer.Option(
            "--rows-only",
            help="Write no tables, for machines whose results are combined elsewhere.",
            rich_help_panel=RUNNING,
        ),
    ] = False,
    tables_only: Annotated[
        bool,
        typer.Option(
            "--tables-only",
            help="Run nothing; write the tables from existing results.",
            rich_help_panel=RUNNING,
        ),
    ] = False,
    page: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Markdown file to publish the report in, between its two marks; the figures go "
            "into a directory beside it.",
            rich_help_panel=RUNNING,
        ),
    ] = None,
    budget: Annotated[
        float | None,
        typer.Option(
            metavar="MINUTES",
            help="Time limit in minutes; rows that would exceed it are not started.",
            rich_help_panel=RUNNING,
        ),
    ] = None,
    keep_weights: Annotated[
        bool,
        typer.Option(
            "--keep-weights",
            help="Keep the model directories of finished rows in FOLDER/work.",
            rich_help_panel=RUNNING,
        ),
    ] = False,
    device: options.Device = options.DeviceName.AUTO,
    threads: options.TrainingThreads = 0,
) -> None:
    """Train and score the missing rows of the paper's tables, and write the tables.

    After an interruption the same command resumes.
    """
    from readagain.cli.output import lasting_console
    from readagain.errors import ConfigError, require

    tests = _parse_tests(test or [])
    if rows_only and (tables_only or page is not None):
        raise ConfigError("--rows-only: conflicts with --tables-only and --page; use one of them")
    result = None
    if tables_only:
        from readagain.experiments.report import write_report

        for problem in write_report(out):
            print(problem)
    else:
        require("torch", extra="train", purpose="training rows")
        require("safetensors", extra="train", purpose="training rows")
        from readagain.experiments.reproduce import reproduce
        from readagain.experiments.settings import ReproduceOptions

        reproduce_options = ReproduceOptions(
            names=tuple(names or ()),
            out=out,
            data=data,
            tests=tests,
            scale=scale.value,
            recipes=[each.value for each in recipe or [Recipe.MODERN]],
            seeds=seeds,
            epochs=epochs,
            budget_minutes=budget,
            limit=limit,
            device_name=device.value,
            threads=threads,
            keep_weights=keep_weights,
            rows_only=rows_only,
        )
        result = reproduce(reproduce_options, lasting_console())
        _print_result(result)
        if result.is_interrupted:
            return
    if (out / "results.md").exists() and not rows_only:  # a call may have finished nothing yet
        print(f"{out / 'results.md'}: tables and claims; {out / 'tables'}: the tables as files")
    if page is not None:
        from readagain.experiments.report import publish_report

        print(f"{page}: written; figures in {publish_report(out, page)}")
    if result is not None and result.failed:
        raise typer.Exit(1)


def _parse_tests(options: list[str]) -> dict[str, Path]:
    """Parse `--test NAME=FOLDER` options.

    Raises:
        ConfigError: for an option without a name, or a name given twice.
    """
    from readagain.errors import ConfigError

    tests: dict[str, Path] = {}
    for option in options:
        name, separator, path = option.partition("=")
        # In the tables a comma separates the name of a corpus from that of its part.
        if not separator or not name or not path or "," in name:
            raise ConfigError(
                f"--test {option!r}: expected NAME=FOLDER without a comma in the name, for example "
                "duc2003=data/duc2003"
            )
        if name in tests:
            raise ConfigError(f"--test: the name '{name}' is used twice; choose another")
        tests[name] = Path(path)
    return tests


def _print_result(result: "ReproduceResult") -> None:
    if result.failed:
        print(f"failed, see above: {', '.join(result.failed)}")
    print(f"rows done now: {len(result.done)}, done before: {len(result.existing)}")
    for name, reason in result.skipped.items():
        print(f"skipped {name}: {reason}")
    if result.is_interrupted:
        print("stopped and saved; to resume, run the same command again")
    elif result.left:
        print(
            f"not run, out of time: {', '.join(result.left)}; to resume, run the same command again"
        )
