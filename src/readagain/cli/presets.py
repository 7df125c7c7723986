"""`readagain presets`: list presets, or print one."""

from typing import Annotated

import typer

from readagain.cli import options


def command(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="PRESET",
            help="Preset or run file to print; without it, all presets are listed.",
        ),
    ] = None,
    changes: options.Changes = None,
    as_json: Annotated[bool, typer.Option("--json", help="JSON output.")] = False,
) -> None:
    """List the presets, or print the configuration of one."""
    import json

    from readagain.config.files import run_to_json, run_to_toml
    from readagain.errors import ConfigError
    from readagain.presets import BASELINES
    from readagain.presets.find import find_run

    if name is not None:
        is_baseline = name in BASELINES and not changes
        run = BASELINES[name] if is_baseline else find_run(name, changes or [])
        print(run_to_json(run) if as_json else run_to_toml(run), end="")
    elif changes:
        raise ConfigError("--set: needs a preset; name one")
    elif as_json:
        print(json.dumps(_rows(), indent=2, ensure_ascii=False))
    else:
        _print_table()


def _rows() -> list[dict[str, object]]:
    from readagain.config.parameters import count_parameters
    from readagain.presets import BASELINES, PRESETS

    baselines: list[dict[str, object]] = [
        {"name": name, "title": spec.title, "vocab_size": 0, "parameters": 0, "paper": spec.paper}
        for name, spec in BASELINES.items()
    ]
    return baselines + [
        {
            "name": name,
            "title": run.title,
            "vocab_size": run.vocab_size,
            "parameters": count_parameters(run),
            "paper": run.paper,
        }
        for name, run in PRESETS.items()
    ]


def _print_table() -> None:
    from rich.table import Table

    from readagain.cli.output import print_table

    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("name", no_wrap=True)
    table.add_column("words", justify="right", no_wrap=True)
    table.add_column("parameters", justify="right", no_wrap=True)
    table.add_column("paper")
    for row in _rows():
        table.add_row(
            str(row["name"]),
            f"{row['vocab_size']:,}" if row["vocab_size"] else "–",
            f"{row['parameters']:,}" if row["parameters"] else "–",
            str(row["paper"]),
        )
    print_table(table)
