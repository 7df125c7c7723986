"""Write the reference pages from docstrings, the command line, the specs and the HTTP schema.

`python docs/site/reference.py` (or `make docs`) writes `docs/reference/`. A unit test fails if a
page there is out of date.
"""

import ast
import inspect
import json
import re
import textwrap
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from importlib import import_module
from pathlib import Path
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin

from typer.models import ArgumentInfo, ParameterInfo

import readagain
from readagain import errors
from readagain.cli.main import COMMANDS
from readagain.config.fields import SpecField, spec_fields
from readagain.config.options import OPTIONS
from readagain.config.schema import KINDS, RECIPES, RunSpec

FOLDER = Path(__file__).parents[1] / "reference"
NOTE = "<!-- Written by docs/site/reference.py; change the code, then run: make docs -->"
SECTION = re.compile(r"^(Args|Returns|Yields|Raises):\n((?:[ \t]+.*\n?|\n)+)", flags=re.MULTILINE)
ENTRY = re.compile(r"^    ([\w, *]+): (.*(?:\n {5,}.*)*)", flags=re.MULTILINE)


def table(header: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a Markdown table."""
    header = list(header)
    lines = [header, *([cell.replace("|", "\\|") for cell in row] for row in rows)]
    first, *others = ("| " + " | ".join(line) + " |" for line in lines)
    return "\n".join([first, "|" + "---|" * len(header), *others])


def one_line(text: str) -> str:
    """Join the lines of a text."""
    return " ".join(text.split())


# Python


def docstring(thing: object) -> str:
    """Return a Google-style docstring as Markdown, its arguments as a table."""
    text = inspect.getdoc(thing) or ""
    parts = [SECTION.sub("", text).strip()]
    for name, body in SECTION.findall(text):
        entries = ENTRY.findall(body)
        if name == "Args" and inspect.isclass(thing) and not is_dataclass(thing):
            continue  # objects come from a function such as `load`
        if entries and name in ("Args", "Raises"):
            first = "field" if inspect.isclass(thing) else "argument"
            header = (first, "meaning") if name == "Args" else ("error", "when")
            rows = ((f"`{entry}`", one_line(meaning)) for entry, meaning in entries)
            parts.append(table(header, rows))
        else:
            parts.append(f"{name}: {one_line(body)}")
    return "\n\n".join(part for part in parts if part)


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
    result = f" -> {ast.unparse(definition.returns)}" if definition.returns else ""
    text = f"{name}({', '.join(arguments)}){result}"
    if len(text) > 90:
        text = f"{name}(\n" + "".join(f"    {part},\n" for part in arguments) + f"){result}"
    text = re.sub(r"(?<=-> )'(\w+)'", r"\1", text)
    return f"```python\n{text}\n```"


def _argument(argument: ast.arg, values: Mapping[str, inspect.Parameter]) -> str:
    """Return an argument as written, with the choices of a `Literal` and the value of a default."""
    parameter = values[argument.arg]
    text = ast.unparse(argument)
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
        " where the problem is and what to do.",
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


# Settings


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


# Command line


def command_line_page() -> str:
    """Return the reference of all commands, from the signatures that Typer reads."""
    commands = {name: import_module(f"readagain.cli.{name}") for name in COMMANDS}
    rows = [
        (f"[`{name}`](#readagain-{name})", (inspect.getdoc(module.command) or "").split("\n")[0])
        for name, module in commands.items()
    ]
    parts = [
        "# Command line",
        NOTE,
        "`readagain COMMAND --help` shows the same. `readagain --version` prints the version, "
        "`--debug` shows tracebacks, and `readagain --install-completion` installs completion of "
        "commands and options in your shell.",
        table(("command", "task"), rows),
    ]
    for name, module in commands.items():
        parts += command_section(name, module.command, getattr(module, "EXAMPLES", ()))
    return "\n\n".join(parts) + "\n"


def command_section(name: str, command: Callable[..., None], examples: Iterable[str]) -> list[str]:
    """Return the description, arguments, options and examples of a command."""
    text = (inspect.getdoc(command) or "").replace("\b\n", "")
    parts = [f"## `readagain {name}`", SECTION.sub("", text).strip()]
    usage, arguments, options = [f"readagain {name}"], [], []
    for parameter in inspect.signature(command).parameters.values():
        metadata = get_args(parameter.annotation)
        info = next((each for each in metadata if isinstance(each, ParameterInfo)), None)
        if info is None:  # Typer's context
            continue
        value_type = metadata[0]
        is_many, value = _value_name(value_type)
        help_text = one_line(info.help or "")
        if isinstance(info, ArgumentInfo):
            shown = info.metavar or parameter.name.upper()
            is_required = parameter.default in (inspect.Parameter.empty, ...)
            shown = shown + "..." if is_many and "..." not in shown else shown
            usage.append(shown if is_required or shown.startswith("[") else f"[{shown}]")
            arguments.append((f"`{shown}`", help_text))
        elif not info.hidden:
            # Typer keeps the first name of an `Annotated` option as its default.
            declared = [str(each) for each in (info.default, *(info.param_decls or ()))]
            names = ", ".join(each for each in declared if each.startswith("-"))
            names = names or f"--{parameter.name.replace('_', '-')}"
            shown = "" if value_type is bool else f" {info.metavar or value}"
            options.append((f"`{names}{shown}`", _with_default(help_text, info, parameter.default)))
    usage.append("[OPTIONS]")
    parts.append(f"```\n{' '.join(usage)}\n```")
    if arguments:
        parts.append(table(("argument", "meaning"), arguments))
    if options:
        parts.append(table(("option", "meaning"), options))
    if examples:
        parts.append("Examples:\n\n```\n" + "\n".join(examples) + "\n```")
    return parts


def _value_name(value_type: Any) -> tuple[bool, str]:
    """Return whether an option takes several values, and a name for one of them."""
    members = [each for each in get_args(value_type) if each is not type(None)]
    if get_origin(value_type) in (Union, UnionType):
        return _value_name(members[0])
    if get_origin(value_type) is list:
        return True, _value_name(members[0])[1]
    if get_origin(value_type) is Literal:
        return False, "|".join(members)
    return False, {int: "INTEGER", float: "NUMBER", Path: "PATH"}.get(value_type, "TEXT")


def _with_default(help_text: str, info: ParameterInfo, value: object) -> str:
    """Return the help of an option with its default, unless the help names it."""
    if isinstance(info.show_default, str):
        value = info.show_default
    is_shown = isinstance(value, str | int | float) and not isinstance(value, bool) and value != ""
    if not is_shown or not info.show_default or "default" in help_text:
        return help_text
    return f"{help_text.rstrip('.')} (default: {value})."


# HTTP


def http_page() -> str:
    """Return the reference of the HTTP API, from its OpenAPI schema."""
    from readagain.serve.app import build_app as build_server
    from readagain.serve.models import LoadedModels
    from readagain.serve.settings import ServeSettings

    schema = build_server(ServeSettings(), LoadedModels({})).openapi()
    parts = [
        "# HTTP API",
        NOTE,
        f"{schema['info']['description']} [Serve headlines](../serving.md) has examples, error "
        "codes and limits. A running server has the OpenAPI schema at `/openapi.json`.",
    ]
    used: list[str] = []
    for path, methods in schema["paths"].items():
        for method, operation in methods.items():
            parts += [f"## `{method.upper()} {path}`", operation.get("description", "")]
            for label, content in (
                ("Request", operation.get("requestBody", {})),
                ("Response", operation["responses"].get("200", {})),
            ):
                body = content.get("content", {}).get("application/json", {}).get("schema", {})
                if "$ref" in body:
                    parts.append(f"{label}: {schema_type(body)}")
                    used.append(body["$ref"].rpartition("/")[2])
    schemas = schema["components"]["schemas"]
    names: list[str] = []
    queue = [*used, "ErrorResponse"]
    while queue:
        name = queue.pop(0)
        if name not in names:
            names.append(name)
            queue += re.findall(r"#/components/schemas/(\w+)", str(schemas[name]))
    parts.append("## Objects")
    for name in names:
        parts.append(schema_section(name, schemas[name]))
    return "\n\n".join(part for part in parts if part) + "\n"


def schema_section(name: str, schema: dict[str, Any]) -> str:
    """Return the description of an object and a table of its fields."""
    text = schema.get("description", "")
    described: dict[str, str] = {}
    for names, meaning in ENTRY.findall(text):
        described.update(dict.fromkeys(re.findall(r"\w+", names), one_line(meaning)))
    required = schema.get("required", [])
    rows = [
        (
            f"`{field}`",
            schema_type(content),
            "" if field in required else f"`{json.dumps(content.get('default'))}`",
            one_line(content.get("description", described.get(field, ""))),
        )
        for field, content in schema["properties"].items()
    ]
    header: tuple[str, ...] = ("field", "type", "default", "meaning")
    shown = [nth for nth in range(len(header)) if nth < 2 or any(row[nth] for row in rows)]
    cells = [[row[nth] for nth in shown] for row in rows]
    fields_table = table([header[nth] for nth in shown], cells)
    return f"### {name}\n\n{SECTION.sub('', text).strip()}\n\n{fields_table}"


LIMITS = {
    "minimum": "at least {}",
    "exclusiveMinimum": "more than {}",
    "maximum": "at most {}",
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "minItems": "at least {}",
    "maxItems": "at most {}",
}


def schema_type(schema: dict[str, Any]) -> str:
    """Return the type of a field with its limits, in words."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "anyOf" in schema:
        first, *others = (schema_type(each) for each in schema["anyOf"])
        kind, separator, limits = first.partition(", ")
        return " or ".join([kind, *others]) + separator + limits
    if "enum" in schema or "const" in schema:
        return " or ".join(f"`{each}`" for each in schema.get("enum", [schema.get("const")]))
    kind = str(schema.get("type", "any"))
    if kind == "array":
        kind = f"array of {schema_type(schema['items'])}"
    found = [each.format(f"{schema[key]:,g}") for key, each in LIMITS.items() if key in schema]
    return ", ".join([kind, *found])


PAGES: dict[str, Callable[[], str]] = {
    "python.md": python_page,
    "command-line.md": command_line_page,
    "http.md": http_page,
    "settings.md": settings_page,
}

if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for page_name, render in PAGES.items():
        (FOLDER / page_name).write_text(render(), encoding="utf-8")
