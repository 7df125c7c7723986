"""Reference pages of the command line and of the HTTP API."""

import inspect
import json
import re
from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any, get_args

from markup import ENTRY, NOTE, SECTION, one_line, table
from typer.models import ArgumentInfo, ParameterInfo

from readagain.cli.main import COMMANDS
from readagain.cli.options import value_name


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
        is_many = "list[" in str(value_type)
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
            is_flag = value_type in (bool, bool | None)
            shown = "" if is_flag else f" {info.metavar or value_name(value_type)}"
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


def _with_default(help_text: str, info: ParameterInfo, value: object) -> str:
    """Return the help of an option with its default, unless the help names it."""
    if isinstance(info.show_default, str):
        value = info.show_default
    is_shown = isinstance(value, str | int | float) and not isinstance(value, bool) and value != ""
    if not is_shown or not info.show_default or "default" in help_text:
        return help_text
    return f"{help_text.rstrip('.')} (default: {value})."


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
