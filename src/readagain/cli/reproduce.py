"""`readagain reproduce`: rebuild the paper's tables and figures."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from readagain.cli import options
from readagain.cli.output import persistent_console
from readagain.errors import ConfigError, require
from readagain.experiments.options import ReproduceOptions

if TYPE_CHECKING:
    from readagain.experiments.reproduce import ReproduceResult

EXAMPLES = (
    "readagain reproduce --scale small --out runs/small",
    "readagain reproduce table1 --data data/news --test duc2003=data/duc2003 --out runs/paper",
)


@options.argument_options(
    ReproduceOptions,
    out={"short": "-o", "metavar": "FOLDER"},
    changes={"metavar": "NAME=VALUE"},
)
@options.argument_options(
    ReproduceOptions,
    panel="Training",
    data={"short": "-d", "metavar": "FOLDER"},
    scale={},
    recipes={"metavar": "converged|modern|paper", "show_default": "converged"},
    seeds={"min": 1},
    only_seed={"min": 0},
    epochs={"min": 1},
    max_minutes={"metavar": "MINUTES", "min": 0},
)
@options.argument_options(ReproduceOptions, panel="Scoring", limit={"metavar": "N", "min": 1})
@options.argument_options(
    ReproduceOptions,
    panel="Running",
    keep_weights={},
    device_name={},
    threads={},
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
    test: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=PATH",
            help="Name and path of another data set to score on, as for 'readagain evaluate "
            "--data'; may be repeated. A data set with several references is scored by the DUC "
            "protocol.",
            rich_help_panel="Scoring",
        ),
    ] = None,
    tables_only: Annotated[
        bool,
        options.running_option("--tables-only", help="Only write the tables of existing results."),
    ] = False,
    **arguments: Any,
) -> None:
    """Run the paper's experiments that have no result yet, and write the paper's tables.

    The same command resumes an interrupted run.
    """
    out: Path = arguments["out"]
    tests = _parse_tests(test or [])
    result = None
    if tables_only:
        from readagain.experiments.report import write_report

        for problem in write_report(out):
            print(problem)
    else:
        reproduce_options = ReproduceOptions(names=names or (), tests=tests, **arguments)
        for module in ("torch", "safetensors"):
            require(module, extra="train", purpose="training")
        from readagain.experiments.reproduce import reproduce

        result = reproduce(reproduce_options, persistent_console())
        _print_result(result)
        if result.is_interrupted:
            return
    if (out / "results.md").exists():  # missing if no experiment is finished yet
        print(f"{out / 'results.md'}: report; {out / 'tables'}: the tables as files")
    if result is not None and result.failed:
        raise typer.Exit(1)


def _parse_tests(options: list[str]) -> dict[str, Path]:
    """Parse `--test NAME=PATH` options."""
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
