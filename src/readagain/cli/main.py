"""Entry point of the command line: builds the commands and prints errors as one line."""

import inspect
import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Annotated, Any, cast

import typer
from typer.core import TyperCommand, TyperGroup

from readagain import __version__
from readagain.cli.options import as_option, set_value_names
from readagain.cli.output import discard_output, prepare_streams
from readagain.errors import DISK_FULL, ArgumentError, ConfigError, DataError, ReadAgainError

# Modules of readagain.cli, in the order of --help. Each has a function `command` and `EXAMPLES`,
# the command lines at the end of its --help. The function imports packages that load slowly inside
# its body, which keeps --help fast.
COMMANDS: tuple[str, ...] = (
    "summarize",
    "batch",
    "explain",
    "serve",
    "fit",
    "prepare",
    "train",
    "export",
    "models",
    "presets",
    "rouge",
    "evaluate",
    "reproduce",
)

EXIT_ERROR = 2
EXIT_INTERRUPTED = 130


# Typer exports only this subclass of the error for an invalid command line.
_UsageError = cast("type[Exception]", typer.BadParameter.mro()[1])
# Messages of Typer and Click, some of which quote pydantic, and our words.
_PLAIN_WORDS = (
    (r"Invalid value for '(\S+?)'(?: / '\S+')?: (?:Value error, )?", r"\1: "),
    (r"Input should be a valid integer.*", "expected a whole number"),
    (r"Input should be a valid number.*", "expected a number"),
    (r"Input should be ", "expected a value "),
    (r"is not a valid (integer|float)( range)?\b", "is not a number"),
    (r"No such option:? '?([^\s']+)'?", r"\1: no such option"),
    (r"No such command '(.*?)'", r"\1: no such command"),
    (r"Missing (?:option|argument|parameter):? '(\S+?)'(?: / '\S+')?", r"\1: missing"),
    (r"Option '(\S+)' ", r"\1: "),
    (r"Got unexpected extra arguments?(?:\(s\))? \((.*)\)", r"\1: too many arguments"),
    (r"[ .]+\(?(?:Did you mean|Possible options:) ([^?)]*)[?)]*", r"; did you mean \1?"),
)


class _PlainTypes:
    """Mixin for commands: --help shows no value type for flags and arguments."""

    def get_params(self, ctx: Any) -> Any:
        params = super().get_params(ctx)  # type: ignore[misc]
        for param in params:
            if getattr(param, "is_flag", False):
                param.metavar = ""
            elif param.param_type_name == "argument":
                param.display_type_rich = lambda ctx: None
        return params


class _Command(_PlainTypes, TyperCommand):
    pass


class _Group(_PlainTypes, TyperGroup):
    pass


def build_app() -> typer.Typer:
    """Return the Typer application with all commands."""
    app = typer.Typer(
        name="readagain",
        help="Write headlines for texts, and train and evaluate the models that write them.",
        cls=_Group,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )

    @app.callback()
    def options(
        version: Annotated[
            bool,
            typer.Option(
                "--version",
                help="Print the version and exit.",
                is_eager=True,
                callback=_print_version,
            ),
        ] = False,
        # Declared only for --help: `main` removes it from the arguments.
        debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks.")] = False,
    ) -> None:
        pass

    for name in COMMANDS:
        module = import_module(f"readagain.cli.{name}")
        # Blank lines, since older versions of Typer join consecutive lines.
        epilog = "\n\n".join(("Examples:", *module.EXAMPLES))
        set_value_names(module.command)
        help_text = _join_lines(inspect.getdoc(module.command) or "")
        command = _exit_cleanly()(module.command)
        app.command(name, cls=_Command, help=help_text, epilog=epilog)(command)
    return app


def _join_lines(text: str) -> str:
    """Return a text with each paragraph on one line, which Typer wraps to the terminal."""
    return "\n\n".join(paragraph.replace("\n", " ") for paragraph in text.split("\n\n"))


def _print_version(is_set: bool) -> None:
    if is_set:
        print(f"readagain {__version__}", flush=True)
        raise typer.Exit


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; a `ReadAgainError` becomes one line on stderr and exit status 2."""
    prepare_streams()
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    # --debug is accepted anywhere, since users append it to a command that failed.
    debug = "--debug" in arguments
    arguments = [argument for argument in arguments if argument != "--debug"] or ["--help"]
    try:
        with _system_errors(), _exit_cleanly(), _usage_errors(arguments):
            status = build_app()(args=arguments, prog_name="readagain", standalone_mode=False)
    except ReadAgainError as error:
        if debug:
            raise
        message = error.format_message(as_option) if isinstance(error, ArgumentError) else error
        print(f"readagain: {message}", file=sys.stderr)
        sys.exit(EXIT_ERROR)
    sys.exit(status or 0)


@contextmanager
def _usage_errors(arguments: Sequence[str]) -> Iterator[None]:
    """Turn an error of Typer for an invalid command line into a `ConfigError` in plain words."""
    try:
        yield
    except _UsageError as error:
        message = error.format_message()  # type: ignore[attr-defined]
        for pattern, replacement in _PLAIN_WORDS:
            message = re.sub(pattern, replacement, message)
        message = message.rstrip(".")
        if not message.endswith("?"):
            command = f" {arguments[0]}" if arguments[0] in COMMANDS else ""
            message += f"; see 'readagain{command} --help'"
        raise ConfigError(message) from error


@contextmanager
def _system_errors() -> Iterator[None]:
    """Turn an OSError or MemoryError that no other code has handled into a `DataError`.

    Most code that reads or writes a file has a more exact message; this one is the last resort.
    """
    try:
        yield
    except OSError as error:
        where = "a file" if error.filename is None else os.fsdecode(error.filename)
        reason = error.strerror or str(error) or type(error).__name__
        raise DataError(f"{where}: cannot be read or written: {reason}") from error
    except MemoryError as error:
        raise DataError(
            "not enough memory for this command; use fewer workers or threads, or smaller inputs"
        ) from error


@contextmanager
def resumable() -> Iterator[None]:
    """After Ctrl-C, print how to resume and exit."""
    try:
        yield
    except KeyboardInterrupt as error:
        print("readagain: interrupted; run the same command to resume", file=sys.stderr)
        raise typer.Exit(EXIT_INTERRUPTED) from error


@contextmanager
def _exit_cleanly() -> Iterator[None]:
    """Print one line after Ctrl-C or if the disk is full; exit silently if a pipe is closed.

    It wraps each command, since Typer handles Ctrl-C without a message and treats a closed pipe as
    a failure. It also wraps the application, for errors outside of commands.
    """
    try:
        yield
        sys.stdout.flush()  # here, so that a closed pipe is handled below
    except (KeyboardInterrupt, typer.Abort):
        print("readagain: interrupted", file=sys.stderr)
        sys.exit(EXIT_INTERRUPTED)
    except (BrokenPipeError, SystemExit) as error:
        # Typer turns a closed pipe into an exit, so the cause of an exit is checked.
        if isinstance(error, SystemExit) and not isinstance(error.__context__, BrokenPipeError):
            raise
        discard_output()
        sys.exit(0)
    except OSError as error:
        if error.errno not in DISK_FULL:
            raise
        print(
            f"readagain: output: cannot be written ({error.strerror}); free some space and run the "
            "command again",
            file=sys.stderr,
        )
        discard_output()
        sys.exit(EXIT_ERROR)
