"""`readagain presets`: list presets, or print one."""

import json
from typing import Annotated

import typer

from readagain.cli import options
from readagain.cli.output import print_table
from readagain.errors import ConfigError

EXAMPLES = ("readagain presets", "readagain presets tiny --set train.epochs=20")


def command(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="PRESET",
            help="Preset or run file to print; without it, all presets are listed.",
        ),
    ] = None,
    changes: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="Settings to override, such as train.epochs=20; may be repeated.",
        ),
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """List the presets, or print all settings of one."""
    from readagain.config.files import run_to_json, run_to_toml
    from readagain.presets import BASELINES, PRESETS
    from readagain.presets.find import find_run

    if name is not None:
        is_baseline = name in BASELINES and not changes
        run = BASELINES[name] if is_baseline else find_run(name, changes or [])
        print(run_to_json(run) if as_json else run_to_toml(run), end="")
    elif changes:
        raise ConfigError("--set: needs a preset; name one")
    else:
        rows = [
            # A baseline has no network, so its size is 0.
            (name, each.title, getattr(each, "vocab_size", 0), each.paper)
            for name, each in (BASELINES | PRESETS).items()
        ]
        if as_json:
            keys = ("name", "title", "vocab_size", "paper")
            entries = [dict(zip(keys, row, strict=True)) for row in rows]
            print(json.dumps(entries, indent=2, ensure_ascii=False))
        else:
            print_table(
                {"name": "left", "words": "right", "paper": "left"},
                [(name, f"{size:,}" if size else "–", paper) for name, _, size, paper in rows],
            )
