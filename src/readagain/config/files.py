"""Runs as text: the resolved run as JSON or TOML, and the run files people write."""

import json
import tomllib
from collections.abc import Mapping
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any

from readagain.config.checks import refuse
from readagain.config.classic import ClassicSpec
from readagain.config.kinds import kind_of
from readagain.config.override import KIND, override
from readagain.config.schema import RunSpec
from readagain.config.settings import settings_of
from readagain.errors import ConfigError, quoted, type_in_words
from readagain.storage.files import atomic_write, read_bounded

MAX_RUN_BYTES = 1 << 20
_RUN_FILE_KEYS = ("preset", "override")
_REMOVED_SETTINGS = {"model": {"feature_size": 0}}
"""Settings that older run files have; each is ignored if it has this value."""


def run_to_dict(run: RunSpec | ClassicSpec) -> dict[str, Any]:
    """Return every setting of a run as plain values; a variant is named by its kind."""
    return _plain(run)


def run_from_dict(settings: Mapping[str, Any], *, where: str = "run") -> RunSpec:
    """Build the run that `run_to_dict` described; a setting that is missing takes its default.

    Raises:
        ConfigError: naming every setting that is unknown or cannot be honoured.
    """
    missing = [name for name in ("title", "paper") if name not in settings]
    refuse([f"no '{name}'; every run says where it comes from" for name in missing], where=where)
    return override(RunSpec(title="", paper=""), _without_removed(settings), where=where)


def _without_removed(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return `settings` without those that no longer exist and had no effect."""
    kept = dict(settings)
    for part, removed in _REMOVED_SETTINGS.items():
        if isinstance(kept.get(part), Mapping):
            kept[part] = {
                name: value
                for name, value in kept[part].items()
                if name not in removed or value != removed[name]
            }
    return kept


def save_run(run: RunSpec, path: Path) -> None:
    """Write a resolved run as JSON; the file is whole or absent."""
    with atomic_write(path) as aside:
        aside.write_text(run_to_json(run), encoding="utf-8")


def load_run(path: Path) -> RunSpec:
    """Read a run that `save_run` wrote.

    Raises:
        ConfigError: naming the file and what is wrong in it.
    """
    try:
        settings = json.loads(_read(path))
    except json.JSONDecodeError as error:
        raise ConfigError(f"{path}:{error.lineno}: not JSON: {error.msg}") from error
    except (ValueError, RecursionError) as error:  # a number or nesting beyond all bounds
        raise ConfigError(f"{path}: not JSON that a run could be: {error}") from error
    if not isinstance(settings, dict):
        raise ConfigError(f"{path}: holds {type_in_words(settings)}; expected a JSON object")
    return run_from_dict(settings, where=str(path))


def read_run_file(path: Path, presets: Mapping[str, RunSpec]) -> RunSpec:
    """Read a TOML run file: the name of a preset, and what differs under `[override]`.

    Raises:
        ConfigError: naming the file and every problem in it.
    """
    try:
        content = tomllib.loads(_read(path))
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path}: not TOML: {error}") from error
    except (ValueError, RecursionError) as error:  # a number or nesting beyond all bounds
        raise ConfigError(f"{path}: not TOML that a run could be: {error}") from error
    refuse(
        [
            f"no setting {quoted(name)} here; a run file has 'preset' and settings under [override]"
            for name in content
            if name not in _RUN_FILE_KEYS
        ],
        where=str(path),
    )
    preset = content.get("preset")
    if not isinstance(preset, str) or preset not in presets:
        found = f"preset is {quoted(preset)}" if "preset" in content else "no 'preset'"
        raise ConfigError(f"{path}: {found}; 'readagain presets' lists what there is")
    changes = content.get("override", {})
    if not isinstance(changes, dict):
        raise ConfigError(f"{path}: override is {quoted(changes)}; expected a table, [override]")
    return override(presets[preset], changes, where=str(path))


def run_to_json(run: RunSpec | ClassicSpec) -> str:
    """Write a run as JSON, every setting resolved."""
    return json.dumps(run_to_dict(run), indent=2, ensure_ascii=False) + "\n"


def run_to_toml(run: RunSpec | ClassicSpec) -> str:
    """Write a run as TOML, every setting resolved and explained."""
    return "\n".join(_toml_table(run, "")).lstrip() + "\n"


def _plain(spec: Any) -> dict[str, Any]:
    kind = kind_of(type(spec))
    plain: dict[str, Any] = {KIND: kind} if kind else {}
    for name in settings_of(type(spec)):
        value = getattr(spec, name)
        plain[name] = _plain(value) if is_dataclass(value) else value
    return plain


def _toml_table(spec: Any, path: str) -> list[str]:
    lines = ["", f"[{path}]"] if path else []
    kind = kind_of(type(spec))
    if kind:
        lines.append(f'{KIND} = "{kind}"')
    inner = []
    for name, setting in settings_of(type(spec)).items():
        value = getattr(spec, name)
        if setting.variants:
            inner += _toml_table(value, f"{path}.{name}" if path else name)
            continue
        explanation = "  # " + setting.help if setting.help else ""
        # JSON spells text, numbers and booleans as TOML does.
        lines.append(f"{name} = {json.dumps(value, ensure_ascii=False)}{explanation}")
    return lines + inner


def _read(path: Path) -> str:
    try:
        return read_bounded(path, max_bytes=MAX_RUN_BYTES).decode("utf-8")
    except FileNotFoundError as error:
        raise ConfigError(f"{path}: no such file") from error
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: cannot be read: {error}") from error
