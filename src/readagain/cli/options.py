"""Options shared by several commands."""

import inspect
import re
from collections.abc import Callable, Collection
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import typer
from typer.models import OptionInfo

from readagain.config.fields import SpecField, argument_fields, spec_fields
from readagain.config.options import OPTIONS
from readagain.formats.records import OnError

Command = Callable[..., None]
Decorator = Callable[[Command], Command]

_RENAMED_OPTIONS = {
    "allowed_hosts": "--allowed-host",
    "begin_from": "--from",
    "changes": "--set",
    "cors_origins": "--cors-origin",
    "device_name": "--device",
    "is_tokenized": "--tokenized or --raw",
    "models": "--model",
    "only_seed": "--seed",
    "recipes": "--recipe",
    "summary_field": "--field",
    "tests": "--test",
}
"""Command-line options that are not named after their Python argument."""

# Functions that define an option under the heading Reading, Writing or Running of --help.
reading_option = partial(typer.Option, rich_help_panel="Reading")
writing_option = partial(typer.Option, rich_help_panel="Writing")
running_option = partial(typer.Option, rich_help_panel="Running")


def as_option(argument: str) -> str:
    """Return the command-line option of a Python argument, for messages."""
    return _RENAMED_OPTIONS.get(argument) or "--" + argument.replace("_", "-")


def set_value_names(command: Command) -> None:
    """Name the values of a command's options, such as INTEGER, where no name is set."""
    for parameter in inspect.signature(command).parameters.values():
        for info in get_args(parameter.annotation)[1:]:
            if isinstance(info, OptionInfo) and info.metavar is None:
                info.metavar = value_name(get_args(parameter.annotation)[0])


def value_name(value_type: Any) -> str:
    """Return the name of the values of an option, for --help."""
    members = [each for each in get_args(value_type) if each is not type(None)]
    if get_origin(value_type) in (Union, UnionType, list):
        return value_name(members[0])
    if get_origin(value_type) is Literal:
        return "|".join(members)
    return {int: "INTEGER", float: "NUMBER", Path: "PATH"}.get(value_type, "TEXT")


Model = Annotated[
    str, typer.Option("--model", "-m", help="Name of a bundled model, or model folder.")
]


def decoding_options(
    *names: str, without: Collection[str] = ("explain",), default: str = "from the model"
) -> Decorator:
    """Return a decorator that adds options of `SummarizeOptions` to a command.

    The command receives them as `**decoding: Unpack[SummarizeOptions]`.

    Args:
        names: names of the options; by default all except those in `without`.
        without: names of the options that the command does not have. Explanations have a command
            of their own.
        default: where the value of a number comes from if its option is unset, for --help.
    """
    names = names or tuple(name for name in OPTIONS if name not in without)
    return _add_parameters([_make_parameter(OPTIONS[name], unset=default) for name in names])


def spec_options(spec: object, *, panel: str | None = None, **options: dict[str, Any]) -> Decorator:
    """Return a decorator that adds fields of a dataclass to a command, as options.

    The command receives them as keyword arguments.

    Args:
        spec: instance with the default values; its class has the types and help texts.
        panel: heading of these options in the help text.
        options: by name of the field, settings of `typer.Option`; by default all fields.
    """
    fields = {
        name: replace(field, default=getattr(spec, name))
        for name, field in spec_fields(type(spec)).items()
    }
    return _add_parameters(
        [
            _make_parameter(fields[name], unset="none", panel=panel, **settings)
            for name, settings in (options or dict.fromkeys(fields, {})).items()
        ]
    )


def argument_options(
    function: Callable[..., Any], *, panel: str | None = None, **arguments: dict[str, Any]
) -> Decorator:
    """Return a decorator that adds arguments of a Python function to a command, as options.

    The command receives them as keyword arguments. Types, defaults and help texts are those of the
    function.

    Args:
        function: function that the command calls.
        panel: heading of these options in the help text.
        arguments: by name of the argument, settings of `typer.Option` that the function does not
            have, such as `metavar`.
    """
    fields = argument_fields(function)
    return _add_parameters(
        [
            _make_parameter(fields[name], panel=panel, **settings)
            for name, settings in arguments.items()
        ]
    )


def _add_parameters(new_parameters: list[inspect.Parameter]) -> Decorator:
    """Return a decorator that replaces the `**kwargs` of a command by new keyword parameters.

    Typer reads the signature and the annotations of the command. The new parameters come before the
    command's own keyword parameters, and in --help their options come first, too. Of several
    decorators, the options of the first come first.
    """

    def decorate(command: Command) -> Command:
        own_parameters = inspect.signature(command).parameters.values()
        keyword_only, kwargs = inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.VAR_KEYWORD
        arguments = [each for each in own_parameters if each.kind not in (keyword_only, kwargs)]
        keywords = [each for each in own_parameters if each.kind is keyword_only]
        parameters = [*arguments, *new_parameters, *keywords]
        command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        return command

    return decorate


def _make_parameter(
    option: SpecField,
    *,
    unset: str = "",
    panel: str | None = "Summary",
    short: str | None = None,
    **settings: Any,
) -> inspect.Parameter:
    """Return the parameter from which Typer builds an option.

    Args:
        option: the field that the option sets.
        unset: shown in --help as the default of a number whose default is None.
        panel: heading of the option in the help text.
        short: short form of the option, such as `-o`.
        settings: other settings of `typer.Option`.
    """
    flag = as_option(option.name).replace(" or ", "/")
    if option.default is True:
        flag += f"/--no-{flag[2:]}"
    help_text = re.sub(r"`(\w+)`", lambda match: as_option(match[1]), option.help)
    if option.value_type == list[str]:
        help_text = f"{help_text.removesuffix('.')}; may be repeated."
    is_unset_number = option.default is None and option.value_type in (int, float)
    typer_option = typer.Option(
        *(flag, short) if short else (flag,),
        **{
            "help": help_text,
            "metavar": "|".join(option.choices) or None,
            "show_default": option.unset or (is_unset_number and unset) or True,
            "rich_help_panel": panel,
            **settings,
        },
    )
    value_type = option.value_type | None if option.default is None else option.value_type
    return inspect.Parameter(
        option.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=option.default,
        annotation=Annotated[value_type, typer_option],
    )


# Options for reading inputs.

TextFormat = Annotated[
    str | None,
    reading_option(
        "--format",
        help="Format: text (one text per file), lines (one text per line), jsonl, csv or parquet.",
        show_default="from the file name",
    ),
]
TextColumn = Annotated[
    str | None, reading_option(help="Field or column of the text.", show_default="detected")
]
Encoding = Annotated[str, reading_option(help="Encoding of text, JSONL and CSV.")]

OnErrorOption = Annotated[
    OnError,
    reading_option(
        "--on-error",
        help="What to do with invalid records: skip and report them, or stop at the first.",
    ),
]

# Options for writing outputs.

SummaryField = Annotated[str, writing_option("--field", help="Name of the field for the summary.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]

# Options for resources.

Threads = Annotated[
    int | None,
    running_option(help="Number of threads.", show_default="all processors"),
]
Precision = Annotated[
    str | None,
    running_option(
        metavar="int8|float32",
        help="Precision of the ONNX graphs.",
        show_default="int8 if available",
    ),
]
