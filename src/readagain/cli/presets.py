"""`readagain presets`: list presets, or print one."""

from typing import Annotated, Any

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
    import json

    from readagain.config.files import run_to_json, run_to_toml
    from readagain.presets import BASELINES
    from readagain.presets.find import find_run

    if name is not None:
        is_baseline = name in BASELINES and not changes
        run = BASELINES[name] if is_baseline else find_run(name, changes or [])
        print(run_to_json(run) if as_json else run_to_toml(run), end="")
    elif changes:
        raise ConfigError("--set: needs a preset; name one")
    elif as_json:
        print(json.dumps(_preset_rows(), indent=2, ensure_ascii=False))
    else:
        print_table(
            {"name": "left", "words": "right", "paper": "left"},
            [
                (row["name"], f"{row['vocab_size']:,}" if row["vocab_size"] else "–", row["paper"])
                for row in _preset_rows()
            ],
        )


def _preset_rows() -> list[dict[str, Any]]:
    """Return name, title, size and paper of each baseline and preset; a baseline has the size 0."""
    from readagain.presets import BASELINES, PRESETS

    baselines = [(name, spec, 0) for name, spec in BASELINES.items()]
    networks = [(name, run, run.vocab_size) for name, run in PRESETS.items()]
    return [
        {"name": name, "title": spec.title, "vocab_size": vocab_size, "paper": spec.paper}
        for name, spec, vocab_size in (*baselines, *networks)
    ]
