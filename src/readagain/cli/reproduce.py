"""`readagain reproduce`: rebuild the paper's tables and figures."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from readagain.cli import options
from readagain.cli.options import running_option
from readagain.cli.output import persistent_console
from readagain.errors import ConfigError, require

if TYPE_CHECKING:
    from readagain.experiments.reproduce import ReproduceResult

_training_option = partial(typer.Option, rich_help_panel="Training")
_scoring_option = partial(typer.Option, rich_help_panel="Scoring")

EXAMPLES = (
    "readagain reproduce --scale small --out runs/small",
    "readagain reproduce table1 --data data/news --test duc2003=data/duc2003 --out runs/paper",
)


def command(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="NAME",
            help="Tables (table1 to table5, importance, ablations) or experiments; without a name, "
            "all of them.",
        ),
    ] = None,
    *,
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="FOLDER", help="Folder for the results.")
    ],
    data: Annotated[
        Path | None,
        _training_option(
            "--data",
            "-d",
            metavar="FOLDER",
            help="Prepared corpus, with a train split to train on and a dev split to score on; "
            "--scale small does not need one.",
        ),
    ] = None,
    scale: Annotated[
        Literal["paper", "small"],
        _training_option(
            help="Networks of the size of the paper, or tiny ones for a test run in minutes."
        ),
    ] = "paper",
    recipe: Annotated[
        list[str] | None,
        _training_option(
            metavar="converged|modern|paper",
            help="Training recipe: AdamW until the loss no longer improves (converged), AdamW for "
            "a few epochs (modern), or as in the paper; may be repeated.",
            show_default="converged",
        ),
    ] = None,
    seeds: Annotated[
        int,
        _training_option(
            min=1, help="Number of random seeds of the main experiments; others have one."
        ),
    ] = 1,
    seed: Annotated[
        int | None,
        _training_option(min=0, help="Random seed of all experiments, instead of --seeds."),
    ] = None,
    epochs: Annotated[
        int | None,
        _training_option(min=1, help="Number of epochs.", show_default="from the recipe"),
    ] = None,
    max_minutes: Annotated[
        float | None,
        _training_option(
            metavar="MINUTES",
            min=0,
            help="Maximum training time of each run; after it, the best checkpoint is scored.",
            show_default="no limit",
        ),
    ] = None,
    changes: options.Changes = None,
    test: Annotated[
        list[str] | None,
        _scoring_option(
            metavar="NAME=PATH",
            help="Name and path of another data set to score on, as for 'readagain evaluate "
            "--data'; may be repeated. A data set with several references is scored by the DUC "
            "protocol.",
        ),
    ] = None,
    limit: Annotated[
        int | None,
        _scoring_option(metavar="N", min=1, help="Maximum number of texts of each data set."),
    ] = None,
    tables_only: Annotated[
        bool,
        running_option("--tables-only", help="Only write the tables of existing results."),
    ] = False,
    keep_weights: Annotated[
        bool,
        running_option(
            "--keep-weights",
            help="Keep the model folders of finished experiments in FOLDER/work.",
        ),
    ] = False,
    device: options.Device = "auto",
    threads: options.TrainingThreads = 0,
) -> None:
    """Run the paper's experiments that have no result yet, and write the paper's tables.

    The same command resumes an interrupted run.
    """
    tests = _parse_tests(test or [])
    result = None
    if tables_only:
        from readagain.experiments.report import write_report

        for problem in write_report(out):
            print(problem)
    else:
        for module in ("torch", "safetensors"):
            require(module, extra="train", purpose="training")
        from readagain.experiments.reproduce import reproduce
        from readagain.experiments.settings import ReproduceOptions

        reproduce_options = ReproduceOptions(
            names=tuple(names or ()),
            out=out,
            data=data,
            tests=tests,
            scale=scale,
            recipes=recipe or ["converged"],
            seeds=seeds,
            only_seed=seed,
            epochs=epochs,
            changes=tuple(changes or ()),
            max_minutes=max_minutes,
            limit=limit,
            device_name=device,
            threads=threads,
            keep_weights=keep_weights,
        )
        result = reproduce(reproduce_options, persistent_console())
        _print_result(result)
        if result.is_interrupted:
            return
    if (out / "results.md").exists():  # missing if no experiment is finished yet
        print(f"{out / 'results.md'}: tables and claims; {out / 'tables'}: the tables as files")
    if result is not None and result.failed:
        raise typer.Exit(1)


def _parse_tests(options: list[str]) -> dict[str, Path]:
    """Parse `--test NAME=PATH` options.

    Raises:
        ConfigError: for an option without a name, or a name given twice.
    """
    tests: dict[str, Path] = {}
    for option in options:
        name, separator, path = option.partition("=")
        # In the tables, a comma separates the name of a corpus from the name of a part of it.
        if not separator or not name or not path or "," in name:
            raise ConfigError(
                f"--test {option!r}: expected NAME=PATH without a comma in the name, for example "
                "duc2003=data/duc2003"
            )
        if name in tests:
            raise ConfigError(f"--test: the name '{name}' is used twice; choose another")
        tests[name] = Path(path)
    return tests


def _print_result(result: "ReproduceResult") -> None:
    if result.failed:
        print(f"failed, see above: {', '.join(result.failed)}")
    print(f"experiments done now: {len(result.done)}, done before: {len(result.existing)}")
    for name, reason in result.skipped.items():
        print(f"skipped {name}: {reason}")
    if result.is_interrupted:
        print("stopped and saved; to resume, run the same command again")
