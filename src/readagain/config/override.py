"""Changes to the settings of a run, used by presets, run files and `--set`."""

import difflib
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from readagain.config.fields import SpecField, join_with_or, spec_fields
from readagain.config.schema import KINDS, RECIPES, RunSpec
from readagain.config.validation import find_problems, raise_problems
from readagain.errors import ArgumentError, quoted

KIND = "kind"
_MAX_DEPTH = 20  # more than any spec; deeper mappings are reported as unknown settings


def override(
    run: RunSpec, changes: Mapping[str, object], *, where: str = "", argument: str = ""
) -> RunSpec:
    """Return a copy of `run` with some settings changed.

    Args:
        run: run to start from.
        changes: values by dotted name, such as `{"decode.beam_size": 5}`, or nested mappings. A
            value may be a spec. `"model.encoder.kind"` selects another variant; settings that both
            variants have keep their values. `"train": "modern"` selects a recipe.
        where: file or folder that the changes came from, for the message.
        argument: instead of `where`, the name of the argument that the changes came from.

    Raises:
        ConfigError: with all unknown names and all invalid values.
    """
    problems: list[str] = []
    changed: RunSpec = run

    def sort_key(change: tuple[tuple[str, ...], object]) -> tuple[int, bool]:
        """Sort whole specs first, then their kinds, then the settings inside them."""
        path, _ = change
        return len(path), path[-1] != KIND

    for path, value in sorted(_flatten(changes), key=sort_key):
        changed = _replace_setting(changed, path, value, "", problems)
    raise_problems([*problems, *find_problems(changed)], where=where, argument=argument)
    return changed


def parse_assignments(assignments: Iterable[str]) -> dict[str, object]:
    """Parse `NAME=VALUE` strings: `decode.beam_size=5` becomes `{"decode.beam_size": 5}`.

    Values are written as in TOML; a bare word is a string, so `model.output=copy` needs no quotes.
    """
    changes: dict[str, object] = {}
    for assignment in assignments:
        name, separator, text = assignment.partition("=")
        if not separator or not name.strip():
            raise ArgumentError(  # replaces {changes} by the name of the argument or option
                "{changes} {0!r}: expected NAME=VALUE, for example decode.beam_size=5", assignment
            )
        changes[name.strip()] = _parse_value(text.strip())
    return changes


def kind_of(spec_type: type) -> str | None:
    """Return the kind of a variant, or None for a spec without variants."""
    return next((kind for kind, variant in KINDS.items() if variant is spec_type), None)


def _parse_value(text: str) -> object:
    """Return the TOML value of `text`, or `text` itself if it is not TOML."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except (ValueError, RecursionError):
        return text


def _flatten(
    changes: Mapping[str, object], prefix: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], object]]:
    """Yield each change with its path: {"a": {"b": 1}} and {"a.b": 1} both give ("a", "b"), 1."""
    for name, value in changes.items():
        path = (*prefix, *name.split("."))
        if isinstance(value, Mapping) and len(path) < _MAX_DEPTH:
            yield from _flatten(value, path)
        else:
            yield path, value


def _replace_setting(
    spec: Any, path: tuple[str, ...], value: Any, prefix: str, problems: list[str]
) -> Any:
    """Return `spec` with the setting at `path` replaced, or add a message to `problems`.

    `prefix` is the dotted name of `spec` in the run, with a dot at the end, for messages.
    """
    name, *inner_path = path
    fields = spec_fields(type(spec))
    if name not in fields:
        problems.append(_describe_unknown(prefix, name, list(fields)))
        return spec
    field, current = fields[name], getattr(spec, name)
    if not inner_path:
        return replace(
            spec, **{name: _convert_value(value, field, prefix + name, current, problems)}
        )
    if not isinstance(current, field.variants):
        problems.append(f"{quoted(prefix + '.'.join(path))}: '{name}' has no settings")
        return spec
    if inner_path == [KIND]:
        changed = _change_kind(value, current, field, prefix + name, problems)
    else:
        changed = _replace_setting(current, tuple(inner_path), value, f"{prefix}{name}.", problems)
    return replace(spec, **{name: changed})


def _convert_value(
    value: Any, field: SpecField, name: str, current: Any, problems: list[str]
) -> Any:
    """Convert the name of a recipe to the recipe, and an int to a float if the field needs one.

    If a spec is expected and `value` is not one, add a message to `problems` and return `current`.
    """
    if field.variants and not isinstance(value, field.variants):
        recipes = [key for key, recipe in RECIPES.items() if isinstance(recipe, field.variants)]
        if isinstance(value, str) and value in recipes:
            return RECIPES[value]
        expected = "a table of settings"
        if recipes:
            expected = f"the name of a recipe ({join_with_or(recipes)}) or {expected}"
        problems.append(f"{name} is {quoted(value)}; expected {expected}")
        return current
    # The validation of the run reports integers that are too large for a float.
    if field.value_type is float and type(value) is int and abs(value) <= sys.float_info.max:
        return float(value)
    return value


def _change_kind(kind: Any, spec: Any, field: SpecField, name: str, problems: list[str]) -> Any:
    """Return a spec of the variant `kind`; settings that `spec` has too keep their values.

    If `kind` is unknown, add a message to `problems` and return `spec`.
    """
    kinds = [str(kind_of(variant)) for variant in field.variants]
    if kind not in kinds:
        problems.append(
            f"{name}.{KIND} is {quoted(kind)}; expected {join_with_or([*map(repr, kinds)])}"
        )
        return spec
    variant = KINDS[kind]
    if type(spec) is variant:
        return spec
    shared_settings = {
        key: getattr(spec, key)
        for key, new_field in spec_fields(variant).items()
        if key in spec_fields(type(spec)) and new_field.validation_error(getattr(spec, key)) is None
    }
    return variant(**shared_settings)


def _describe_unknown(prefix: str, name: str, known: list[str]) -> str:
    nearest = difflib.get_close_matches(name, known, n=1)
    hint = f"did you mean '{nearest[0]}'?" if nearest else f"expected one of {', '.join(known)}"
    return f"{quoted(prefix + name)}: no setting {quoted(name)}; {hint}"
