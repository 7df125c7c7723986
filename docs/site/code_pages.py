"""Reference pages of the Python API and of the settings, from docstrings and specs."""

import ast
import inspect
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from typing import Any, Literal, get_args, get_origin

from markup import NOTE, docstring, table

import readagain
from readagain import errors
from readagain.config.fields import SpecField, spec_fields
from readagain.config.options import OPTIONS
from readagain.config.schema import KINDS, RECIPES, RunSpec


def signature(name: str, function: Callable[..., Any]) -> str:
    """Return the signature of a function as in its source, with the values of its defaults."""
    (definition,) = ast.parse(textwrap.dedent(inspect.getsource(function))).body
    assert isinstance(definition, ast.FunctionDef)
    written = definition.args
    if written.args and written.args[0].arg in ("self", "cls"):
        del written.args[0]
    values = inspect.signature(function).parameters
    each = [*written.posonlyargs, *written.args]
    arguments = [_argument(argument, values) for argument in each]
    if written.kwonlyargs:
        arguments += ["*", *(_argument(argument, values) for argument in written.kwonlyargs)]
    if written.kwarg:
        arguments.append(f"**{ast.unparse(written.kwarg)}")
    result = f" -> {_annotation(definition.returns)}" if definition.returns else ""
    text = f"{name}({', '.join(arguments)}){result}"
    if len(text) > 90:
        text = f"{name}(\n" + "".join(f"    {part},\n" for part in arguments) + f"){result}"
    return f"```python\n{text}\n```"


def _argument(argument: ast.arg, values: Mapping[str, inspect.Parameter]) -> str:
    """Return an argument as written, with the choices of a `Literal` and the value of a default."""
    parameter = values[argument.arg]
    text = argument.arg
    if argument.annotation:
        text += f": {_annotation(argument.annotation)}"
    members = get_args(parameter.annotation)
    literals = [parameter.annotation, *members]
    choices = [get_args(each) for each in literals if get_origin(each) is Literal]
    if choices:
        optional = ("None",) if type(None) in members else ()
        text = f"{argument.arg}: {' | '.join((*map(repr, choices[0]), *optional))}"
    value = parameter.default
    if value is inspect.Parameter.empty:
        return text
    is_plain = value is None or isinstance(value, str | int | float | bool)
    return f"{text} = {value!r}" if is_plain else f"{text} = ..."


def _annotation(written: ast.expr) -> str:
    """Return a type as written, without the quotes of a type whose names are imported lazily."""
    if isinstance(written, ast.Constant) and isinstance(written.value, str):
        return written.value
    return ast.unparse(written)


def members(thing: type) -> list[str]:
    """Return a section for each public method and property of a class."""
    found = []
    for name, value in vars(thing).items():
        if name.startswith("_"):
            continue
        if isinstance(value, property):
            found.append(f"### `{thing.__name__}.{name}`\n\n{docstring(value)}")
        elif isinstance(value, classmethod | staticmethod) or inspect.isfunction(value):
            function = getattr(thing, name)
            title = f"{thing.__name__}.{name}"
            code = signature(title, inspect.unwrap(function))
            found.append(f"### `{title}()`\n\n{code}\n\n{docstring(function)}")
    return found


def python_page() -> str:
    """Return the reference of the public names of `readagain`."""
    parts = [
        "# Python API",
        NOTE,
        "Import these names from `readagain`. Everything else is internal and may change. "
        "[Headlines in your app](../app.md) has examples.",
    ]
    names = [name for name in readagain.__all__ if not name.startswith("__")]
    for name in sorted(names, key=lambda each: (each.isupper(), each.islower(), each)):
        thing = getattr(readagain, name)
        if inspect.isclass(thing):
            parts += [f"## `{name}`", docstring(thing), *members(thing)]
        elif callable(thing):
            parts += [f"## `{name}()`", signature(name, thing), docstring(thing)]
        else:
            parts += [f"## `{name}`", _constant(name)]
    rows = [
        (f"`{name}`", option_type(option), default(option), option.help)
        for name, option in OPTIONS.items()
    ]
    parts += [
        "## Options of `summarize`",
        "The command line and the HTTP API have the same options. An option without a default "
        "here takes the setting of the model.",
        table(("option", "type", "default", "meaning"), rows),
        "## Errors",
        "`readagain.errors` has the exceptions. All derive from `ReadAgainError`. A message says "
        "where the problem is and what to do.",
        table(("exception", "meaning"), _errors()),
    ]
    return "\n\n".join(parts) + "\n"


def _constant(name: str) -> str:
    if name == "PRESETS":
        return "Dictionary of the presets by name; see [Presets](../presets.md)."
    return f"A constant of type `{type(getattr(readagain, name)).__name__}`."


def _errors() -> list[tuple[str, str]]:
    found = [
        each
        for each in vars(errors).values()
        if inspect.isclass(each) and issubclass(each, errors.ReadAgainError)
    ]
    return [(f"`{each.__name__}`", (inspect.getdoc(each) or "").split("\n")[0]) for each in found]


def option_type(field: SpecField) -> str:
    """Return the type, the choices or the range of a setting."""
    if field.choices:
        return " or ".join(f"`{choice}`" for choice in field.choices)
    if field.range is not None:
        return f"{field.value_type.__name__}, {field.range}"
    return field.value_type.__name__


def default(field: SpecField, value: object = None) -> str:
    """Return the default of a setting as in a run file."""
    value = field.default if value is None else value
    if value is None or value == "":
        return ""
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def settings_page() -> str:
    """Return all settings of a run with their defaults."""
    kinds = {spec: kind for kind, spec in KINDS.items()}
    parts = [
        "# Settings",
        NOTE,
        "All settings of a run: network, data, training and decoding. Change one with "
        "`readagain train PRESET --set NAME=VALUE`, or in a run file "
        "([Training](../training.md)). `readagain presets PRESET` prints the settings of a preset.",
        "## Run",
        spec_table(RunSpec, ""),
    ]
    for name, field in spec_fields(RunSpec).items():
        for variant in field.variants:
            parts += spec_sections(variant, f"{name}.", kinds)
    rows = []
    for field in fields(RECIPES["paper"]):
        values = [getattr(recipe, field.name) for recipe in RECIPES.values()]
        if len(set(values)) > 1:
            rows.append((f"`train.{field.name}`", *(f"`{value}`" for value in values)))
    parts += [
        "## Training recipes",
        "`--set train=NAME` takes a recipe. `paper` has the defaults above, others differ in:",
        table(("setting", *(f"`{name}`" for name in RECIPES)), rows),
    ]
    return "\n\n".join(parts) + "\n"


def spec_sections(spec: type, prefix: str, kinds: dict[type, str]) -> list[str]:
    """Return a section for a spec and for each spec inside it."""
    title = f"`{prefix[:-1]}`"
    if spec in kinds:
        title += f" with kind `{kinds[spec]}`"
    parts = [f"## {title}", docstring(spec)]
    settings = spec_table(spec, prefix)
    if settings:
        parts.append(settings)
    for name, field in spec_fields(spec).items():
        for variant in field.variants:
            parts += spec_sections(variant, f"{prefix}{name}.", kinds)
    return parts


def spec_table(spec: type, prefix: str) -> str:
    """Return the plain settings of a spec as a table."""
    assert is_dataclass(spec)
    defaults = {each.name: each.default for each in fields(spec)}
    rows = [
        (
            f"`{prefix}{name}`",
            option_type(field),
            "" if defaults[name] is MISSING else default(field, defaults[name]),
            field.help,
        )
        for name, field in spec_fields(spec).items()
        if not field.variants
    ]
    return table(("setting", "type", "default", "meaning"), rows) if rows else ""
