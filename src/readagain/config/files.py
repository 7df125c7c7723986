"""JSON and TOML files with the settings of a run."""

import json
import tomllib
from collections.abc import Mapping
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any

from readagain.config.fields import spec_fields
from readagain.config.override import KIND, kind_of, override
from readagain.config.schema import BaselineSpec, RunSpec
from readagain.config.validation import raise_problems
from readagain.errors import ConfigError, os_errors, quoted
from readagain.storage.files import read_bounded, read_json_object

MAX_RUN_BYTES = 1 << 20
_RUN_FILE_KEYS = ("preset", "override")
_REMOVED_SETTINGS: dict[str, dict[str, object]] = {
    "model": {"feature_size": 0},
    "train": {"average_last": 5},
    "decode": {"coverage": 0.0, "limit_copies": False},
}
"""Settings that only files of earlier versions have, with the value at which they had no effect.

With that value a setting is ignored; with another value it is reported as unknown.
"""


def spec_to_dict(spec: Any) -> dict[str, Any]:
    """Return all settings of a run, a baseline or one of their specs as JSON values."""
    kind = kind_of(type(spec))
    result: dict[str, Any] = {KIND: kind} if kind else {}
    for name in spec_fields(type(spec)):
        value = getattr(spec, name)
        result[name] = spec_to_dict(value) if is_dataclass(value) else value
    return result


def run_from_dict(settings: Mapping[str, Any], *, where: str = "run") -> RunSpec:
    """Build a run from the result of `spec_to_dict`; missing settings take their defaults."""
    missing = [name for name in ("title", "paper") if name not in settings]
    raise_problems([f"no '{name}'; add it" for name in missing], where=where)
    return override(RunSpec(title="", paper=""), _without_removed(settings), where=where)


def _without_removed(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return `settings` without `_REMOVED_SETTINGS`."""
    result = dict(settings)
    for section, removed in _REMOVED_SETTINGS.items():
        if isinstance(result.get(section), Mapping):
            result[section] = {
                name: value
                for name, value in result[section].items()
                if name not in removed or value != removed[name]
            }
    return result


def save_run(run: RunSpec, path: Path) -> None:
    """Write a run to a JSON file."""
    path.write_text(run_to_json(run), encoding="utf-8")


def load_run(path: Path) -> RunSpec:
    """Load a run from the JSON file of `save_run`."""
    return run_from_dict(read_json_object(path, max_bytes=MAX_RUN_BYTES), where=str(path))


def load_run_file(path: Path, presets: Mapping[str, RunSpec]) -> RunSpec:
    """Load a run from a TOML run file: the name of a preset, and changes under `[override]`."""
    try:
        with os_errors(path, "read", ConfigError):
            content = tomllib.loads(read_bounded(path, max_bytes=MAX_RUN_BYTES).decode("utf-8"))
    except (ValueError, RecursionError) as error:  # not TOML or UTF-8, huge number, deep nesting
        raise ConfigError(f"{path}: not TOML: {error}") from error
    raise_problems(
        [
            f"unknown key {quoted(name)}; a run file has 'preset' and settings under [override]"
            for name in content
            if name not in _RUN_FILE_KEYS
        ],
        where=str(path),
    )
    preset = content.get("preset")
    if not isinstance(preset, str) or preset not in presets:
        problem = f"preset is {quoted(preset)}" if "preset" in content else "no 'preset'"
        raise ConfigError(f"{path}: {problem}; 'readagain presets' lists the presets")
    changes = content.get("override", {})
    if not isinstance(changes, dict):
        raise ConfigError(f"{path}: override is {quoted(changes)}; expected a table, [override]")
    return override(presets[preset], changes, where=str(path))


def run_to_json(run: RunSpec | BaselineSpec) -> str:
    """Return a run as JSON with every setting."""
    return json.dumps(spec_to_dict(run), indent=2, ensure_ascii=False) + "\n"


def run_to_toml(run: RunSpec | BaselineSpec) -> str:
    """Return a run as TOML with every setting and its help text."""
    return "\n".join(_toml_table(run, "")).lstrip() + "\n"


def _toml_table(spec: Any, path: str) -> list[str]:
    """Return the lines of a spec, then those of its nested specs; `path` is its dotted name."""
    lines = ["", f"[{path}]"] if path else []
    kind = kind_of(type(spec))
    if kind:
        lines.append(f'{KIND} = "{kind}"')
    subtables = []
    for name, field in spec_fields(type(spec)).items():
        value = getattr(spec, name)
        if field.variants:
            subtables += _toml_table(value, f"{path}.{name}" if path else name)
            continue
        comment = f"  # {field.help}" if field.help else ""
        # Strings, numbers and booleans look the same in JSON and TOML.
        lines.append(f"{name} = {json.dumps(value, ensure_ascii=False)}{comment}")
    return lines + subtables
