"""Lookup of a run by the name of a preset or a run file."""

import difflib
from collections.abc import Iterable
from pathlib import Path

from readagain.config.files import load_run_file
from readagain.config.override import override, parse_assignments
from readagain.config.schema import RunSpec
from readagain.errors import ConfigError
from readagain.presets import BASELINES, PRESETS


def find_run(name: str, changes: Iterable[str] = ()) -> RunSpec:
    """Return the run of a preset or a run file, with changes.

    Args:
        name: a preset, or the path of a `.toml` run file.
        changes: changes to its settings, such as `decode.beam_size=5`.

    Raises:
        ConfigError: for an unknown name, suggesting the nearest preset, or for invalid settings.
    """
    if name.endswith(".toml"):
        run = load_run_file(Path(name), PRESETS)
    elif name in PRESETS:
        run = PRESETS[name]
    elif name in BASELINES:
        raise ConfigError(
            f"'{name}' has no network, so there is nothing to train or to change; "
            "score it with 'readagain evaluate'"
        )
    else:
        nearest = difflib.get_close_matches(name, [*PRESETS, *BASELINES], n=1)
        hint = f"did you mean '{nearest[0]}'?" if nearest else "'readagain presets' lists them"
        raise ConfigError(f"no preset '{name}'; {hint}")
    return override(run, parse_assignments(changes), argument="changes")
