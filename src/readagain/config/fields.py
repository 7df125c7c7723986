"""Type, choices, range, default and help text of the fields of a spec, or of arguments."""

import ast
import inspect
import math
import re
import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, is_dataclass
from functools import cache
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from readagain.errors import ArgumentError, quoted

_TYPE_NAMES = {int: "a whole number", float: "a number", bool: "true or false", str: "text"}


@dataclass(frozen=True)
class Range:
    """Range of a number, part of the `Annotated` type of a field. Infinity is never valid.

    Args:
        minimum: smallest value.
        maximum: largest value.
        exclusive: whether `minimum` itself is invalid.
    """

    minimum: float
    maximum: float = math.inf
    exclusive: bool = False

    def __contains__(self, value: Any) -> bool:
        if value == math.inf or (self.exclusive and value == self.minimum):
            return False
        return bool(self.minimum <= value <= self.maximum)

    def __str__(self) -> str:
        if self.maximum < math.inf:
            return f"{self.minimum:g} to {self.maximum:g}"
        return f"more than {self.minimum:g}" if self.exclusive else f"{self.minimum:g} or more"


@dataclass(frozen=True)
class Default:
    """Default of a `TypedDict` field, part of the `Annotated` type of the field."""

    value: object


@dataclass(frozen=True)
class SpecField:
    """One field of a spec.

    Args:
        name: name of the field.
        value_type: int, float, bool, str or, for a tuple, `list[str]`; object for a field that
            holds a spec. For an argument of a function also a `Literal`.
        choices: values of a `Literal` field.
        range: valid numbers; None for all.
        variants: spec types that the field may hold; empty for a plain value.
        help: help text, the string below the field in the source.
        default: default of a `TypedDict` field or of an argument.
        unset: what the default None means, such as "detected".
    """

    name: str
    value_type: type
    choices: tuple[str, ...] = ()
    range: Range | None = None
    variants: tuple[type, ...] = ()
    help: str = ""
    default: Any = None
    unset: str = ""

    def validation_error(self, value: Any) -> str | None:
        """Return why `value` is invalid, such as "is 0; expected 1 or more", or None."""
        if self.variants:
            is_valid = isinstance(value, self.variants)
            expected = join_with_or([variant.__name__ for variant in self.variants])
        elif self.choices:
            is_valid, expected = value in self.choices, join_with_or(self.choices)
        elif type(value) is not self.value_type:
            is_valid, expected = False, _TYPE_NAMES[self.value_type]
        else:
            is_valid, expected = self.range is None or value in self.range, str(self.range)
        return None if is_valid else f"is {quoted(value)}; expected {expected}"


def spec_fields(spec_type: type[Any]) -> dict[str, SpecField]:
    """Return the fields of a spec, a dataclass or a `TypedDict`, by name and in order."""
    return _read_fields(spec_type)  # type: ignore[arg-type]  # types are hashable


@cache
def _read_fields(spec_type: type[Any]) -> dict[str, SpecField]:
    help_texts = _help_texts(spec_type)
    hints = get_type_hints(spec_type, include_extras=True)
    return {name: _make_field(name, hint, help_texts.get(name, "")) for name, hint in hints.items()}


def argument_fields(function: Callable[..., Any]) -> dict[str, SpecField]:
    """Return the arguments of a function by name, for the options of a command.

    The help texts are those of the docstring; "; None: detected." at the end of a text says what
    None means. An argument that may be a `Sequence` becomes a list of strings.
    """
    section = (inspect.getdoc(function) or "").partition("Args:\n")[2].partition("\n\n")[0]
    texts = dict(re.findall(r"^    (\w+): (.*(?:\n {5,}.*)*)", section, re.MULTILINE))
    fields = {}
    for name, parameter in inspect.signature(function).parameters.items():
        text = " ".join(texts.get(name, "").split()).removesuffix(".")
        help_text, _, unset = text.partition("; None: ")
        hint = parameter.annotation
        members = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
        is_list = any(get_origin(member) is Sequence for member in members)
        fields[name] = SpecField(
            name,
            list[str] if is_list else members[0],
            help=help_text and f"{help_text[0].upper()}{help_text[1:]}.",
            default=parameter.default,
            unset=unset,
        )
    return fields


def walk_fields(spec: object, prefix: str = "") -> Iterator[tuple[str, SpecField, Any]]:
    """Yield the dotted name, the field and the value of every setting, including nested specs."""
    for name, field in spec_fields(type(spec)).items():
        value = getattr(spec, name)
        yield prefix + name, field, value
        if is_dataclass(value):
            yield from walk_fields(value, f"{prefix}{name}.")


def check_fields(spec: object) -> None:
    """Raise an `ArgumentError` if a field is not one of its choices or outside of its range."""
    for name, field in spec_fields(type(spec)).items():
        value = getattr(spec, name)
        allowed_values = field.range or field.choices
        if allowed_values and value is not None and value not in allowed_values:
            expected = join_with_or(field.choices) if field.choices else field.range
            raise ArgumentError(f"{{{name}}} is {{0}}; expected {{1}}", quoted(value), expected)


def join_with_or(words: Sequence[str]) -> str:
    """Join words: `a, b or c`."""
    *others, last = words
    return f"{', '.join(others)} or {last}" if others else last


def _make_field(name: str, hint: Any, help_text: str) -> SpecField:
    metadata: list[Any] = []
    if get_origin(hint) is Annotated:
        hint, *metadata = get_args(hint)
    value_range = next((item for item in metadata if isinstance(item, Range)), None)
    default = next((item.value for item in metadata if isinstance(item, Default)), None)
    if get_origin(hint) is Literal:
        return SpecField(name, str, choices=get_args(hint), help=help_text, default=default)
    members = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    if all(is_dataclass(member) for member in members):
        return SpecField(name, object, variants=members, help=help_text)
    value_type = list[str] if get_origin(hint) is tuple else members[0]
    return SpecField(name, value_type, range=value_range, help=help_text, default=default)


def _help_texts(spec_type: type) -> dict[str, str]:
    """Return the string below each field, by the name of the field.

    Python discards these strings, so they are read from the source.
    """
    (definition,) = ast.parse(textwrap.dedent(inspect.getsource(spec_type))).body
    assert isinstance(definition, ast.ClassDef)
    texts = {}
    for statement, next_statement in zip(definition.body, definition.body[1:], strict=False):
        if (
            isinstance(statement, ast.AnnAssign)
            and isinstance(statement.target, ast.Name)
            and isinstance(next_statement, ast.Expr)
            and isinstance(next_statement.value, ast.Constant)
        ):
            texts[statement.target.id] = str(next_statement.value.value)
    return texts
