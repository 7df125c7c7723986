"""The one way to derive a run from another: presets, run files and `--set` all use it."""

import difflib
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from readagain.config.checks import problems_of, refuse
from readagain.config.kinds import KINDS, kind_of
from readagain.config.recipes import RECIPES
from readagain.config.schema import RunSpec
from readagain.config.settings import Setting, settings_of
from readagain.errors import ConfigError, quoted

KIND = "kind"
_DEEPEST = 20
"""No setting stands so deep; what does is unknown by its first names."""


def override(run: RunSpec, changes: Mapping[str, object], *, where: str = "") -> RunSpec:
    """Return `run` with some settings changed.

    Args:
        run: what to start from; it stays as it is.
        changes: values by dotted name, `{"decode.beam_size": 5}`, or nested mappings. A part may
            be given as a spec; `"model.encoder.kind"` changes to another variant, which takes over
            the settings that mean something to both; `"train": "modern"` takes a whole recipe.
        where: the file or option the changes came from, for the message.

    Raises:
        ConfigError: naming every unknown name and every value that cannot be honoured.
    """
    problems: list[str] = []
    changed: RunSpec = run
    # Whole parts first, then a part's kind, then what stands inside it.
    for path, value in sorted(_flat(changes), key=lambda item: (len(item[0]), item[0][-1] != KIND)):
        changed = _with(changed, path, value, "", problems)
    refuse([*problems, *problems_of(changed)], where=where)
    return changed


def parse_assignments(assignments: Iterable[str]) -> dict[str, object]:
    """Read `--set` options: `decode.beam_size=5` becomes `{"decode.beam_size": 5}`.

    Values are spelled as in TOML, and a bare word is text, so `model.output=copy` needs no quotes.

    Raises:
        ConfigError: for an option without `=`.
    """
    changes: dict[str, object] = {}
    for assignment in assignments:
        name, separator, text = assignment.partition("=")
        if not separator or not name.strip():
            raise ConfigError(
                f"--set {assignment!r}: expected NAME=VALUE, for example decode.beam_size=5"
            )
        changes[name.strip()] = _value(text.strip())
    return changes


def _value(text: str) -> object:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except (ValueError, RecursionError):
        return text


def _flat(
    changes: Mapping[str, object], above: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], object]]:
    """Yield each change with its path: {"a": {"b": 1}} and {"a.b": 1} both give ("a", "b"), 1."""
    for name, value in changes.items():
        path = (*above, *name.split("."))
        if isinstance(value, Mapping) and len(path) < _DEEPEST:
            yield from _flat(value, path)
        else:
            yield path, value


def _with(spec: Any, path: tuple[str, ...], value: Any, where: str, problems: list[str]) -> Any:
    """Return `spec` with the field at `path` replaced; add to `problems` if it has none."""
    name, *below = path
    settings = settings_of(type(spec))
    if name not in settings:
        problems.append(_unknown(where, name, list(settings)))
        return spec
    setting, current = settings[name], getattr(spec, name)
    if not below:
        return replace(spec, **{name: _accepted(value, setting, where + name, current, problems)})
    if not isinstance(current, setting.variants):
        named = quoted(where + ".".join(path))
        problems.append(f"{named}: '{name}' has no settings inside it")
        return spec
    if below == [KIND]:
        part = _of_kind(value, current, setting, where + name, problems)
    else:
        part = _with(current, tuple(below), value, f"{where}{name}.", problems)
    return replace(spec, **{name: part})


def _accepted(value: Any, setting: Setting, path: str, current: Any, problems: list[str]) -> Any:
    """Return what is put into a field for `value`: a recipe for its name, a float for an int."""
    if setting.variants and not isinstance(value, setting.variants):
        recipes = [name for name, recipe in RECIPES.items() if isinstance(recipe, setting.variants)]
        if isinstance(value, str) and value in recipes:
            return RECIPES[value]
        expected = f"{' or '.join(recipes)}, or settings" if recipes else "settings"
        problems.append(f"{path} is {quoted(value)}; expected {expected} inside it")
        return current
    # A whole number is a number too, in TOML as on the command line; if no float is as large, the
    # check of the whole run will say so.
    if setting.value_type is float and type(value) is int and abs(value) <= sys.float_info.max:
        return float(value)
    return value


def _of_kind(kind: Any, part: Any, setting: Setting, path: str, problems: list[str]) -> Any:
    known = [kind_of(variant) for variant in setting.variants]
    if kind not in known:
        expected = " or ".join(repr(each) for each in known)
        problems.append(f"{path}.{KIND} is {quoted(kind)}; expected {expected}")
        return part
    variant = KINDS[kind]
    if type(part) is variant:
        return part
    taken_over = {
        name: getattr(part, name)
        for name, its in settings_of(variant).items()
        if name in settings_of(type(part)) and its.complaint(getattr(part, name)) is None
    }
    return variant(**taken_over)


def _unknown(path: str, name: str, known: list[str]) -> str:
    nearest = difflib.get_close_matches(name, known, n=1)
    hint = f"did you mean '{nearest[0]}'?" if nearest else f"there are {', '.join(known)}"
    return f"{quoted(path + name)}: no setting {quoted(name)}; {hint}"
