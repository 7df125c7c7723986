"""What each field of a spec accepts, read from the spec itself."""

import ast
import inspect
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, is_dataclass
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from readagain.config.ranges import Range
from readagain.errors import quoted

_TYPE_NAMES = {int: "a whole number", float: "a number", bool: "true or false", str: "text"}


@dataclass(frozen=True)
class Default:
    """Default of a `TypedDict` field, written in its `Annotated` type."""

    value: object


@dataclass(frozen=True)
class Setting:
    """One field of a spec.

    Args:
        name: the field.
        value_type: int, float, bool or str; object for a field that holds a spec.
        choices: the words a `Literal` field may be.
        ranges: bounds of a number.
        variants: the specs a field may hold; empty for a plain value.
        help: the string under the field.
        default: of a field of a `TypedDict`; None elsewhere.
    """

    name: str
    value_type: type
    choices: tuple[str, ...] = ()
    ranges: tuple[Range, ...] = ()
    variants: tuple[type, ...] = ()
    help: str = ""
    default: Any = None

    @property
    def minimum(self) -> float | None:
        """Smallest value of a number; None if there is no lower bound."""
        return next((bound.minimum for bound in self.ranges), None)

    def complaint(self, value: object) -> str | None:
        """Say what is wrong with `value`, as the end of a sentence; None if nothing is."""
        if self.variants:
            if isinstance(value, self.variants):
                return None
            return f"is {quoted(value)}; expected {_either([v.__name__ for v in self.variants])}"
        if self.choices:
            if value in self.choices:
                return None
            return f"is {quoted(value)}; expected {_either(self.choices)}"
        if type(value) is not self.value_type:
            return f"is {quoted(value)}; expected {_TYPE_NAMES[self.value_type]}"
        for bound in self.ranges:
            if not bound.admits(value):  # type: ignore[arg-type]  # only numbers have ranges
                return f"is {quoted(value)}; expected {bound}"
        return None


def settings_of(spec_type: type) -> dict[str, Setting]:
    """Return the fields of a spec in order, each with what it accepts."""
    if spec_type not in _KNOWN:
        _KNOWN[spec_type] = _read_settings(spec_type)
    return _KNOWN[spec_type]


def walk(spec: object, path: str = "") -> Iterator[tuple[str, Setting, Any]]:
    """Yield the dotted name, the setting and the value of every field, parents first."""
    for name, setting in settings_of(type(spec)).items():
        value = getattr(spec, name)
        yield path + name, setting, value
        if is_dataclass(value):
            yield from walk(value, f"{path}{name}.")


_KNOWN: dict[type, dict[str, Setting]] = {}  # each spec's source is read once


def _read_settings(spec_type: type) -> dict[str, Setting]:
    hints = get_type_hints(spec_type, include_extras=True)
    help_texts = _help_texts(spec_type)
    return {name: _setting(name, hint, help_texts.get(name, "")) for name, hint in hints.items()}


def _setting(name: str, hint: Any, help_text: str) -> Setting:
    ranges: tuple[Range, ...] = ()
    default = None
    if get_origin(hint) is Annotated:
        hint, *metadata = get_args(hint)
        default = next((each.value for each in metadata if isinstance(each, Default)), None)
        ranges = tuple(each for each in metadata if not isinstance(each, Default))
    if get_origin(hint) is Literal:
        return Setting(name, str, choices=get_args(hint), help=help_text, default=default)
    members = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    if all(is_dataclass(member) for member in members):
        return Setting(name, object, variants=members, help=help_text)
    return Setting(name, members[0], ranges=ranges, help=help_text, default=default)


def _help_texts(spec_type: type) -> dict[str, str]:
    """Collect the strings that stand under the fields; Python itself does not keep them."""
    (definition,) = ast.parse(textwrap.dedent(inspect.getsource(spec_type))).body
    assert isinstance(definition, ast.ClassDef)
    found = {}
    for statement, following in zip(definition.body, definition.body[1:], strict=False):
        if (
            isinstance(statement, ast.AnnAssign)
            and isinstance(statement.target, ast.Name)
            and isinstance(following, ast.Expr)
            and isinstance(following.value, ast.Constant)
        ):
            found[statement.target.id] = str(following.value.value)
    return found


def _either(words: Sequence[str]) -> str:
    *others, last = words
    return f"{', '.join(others)} or {last}" if others else last
