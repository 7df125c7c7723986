"""Entry point of the command line: builds the commands and prints errors as one line."""

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from readagain import __version__
from readagain.cli.options import as_option
from readagain.cli.output import discard_output, prepare_streams
from readagain.errors import DISK_FULL, ArgumentError, DataError, ReadAgainError

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


class _UntypedFlags:
    """Mixin for commands: --help shows no value type for flags."""

    def get_params(self, ctx: Any) -> Any:
        params = super().get_params(ctx)  # type: ignore[misc]
        for param in params:
            if getattr(param, "is_flag", False):
                param.metavar = ""
        return params


class _Command(_UntypedFlags, TyperCommand):
    pass


class _Group(_UntypedFlags, TyperGroup):
    pass


def build_app() -> typer.Typer:
    """Return the Typer application with all commands."""
    app = typer.Typer(
        name="readagain",
        help="Write headlines for texts, and train and evaluate the models that write them.",
        cls=_Group,
        no_args_is_help=True,
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
        app.command(name, cls=_Command, epilog=epilog)(_exit_cleanly()(module.command))
    return app


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
    arguments = [argument for argument in arguments if argument != "--debug"]
    try:
        with _system_errors(), _exit_cleanly():
            build_app()(args=arguments, prog_name="readagain")
    except ReadAgainError as error:
        if debug:
            raise
        message = error.format_message(as_option) if isinstance(error, ArgumentError) else error
        print(f"readagain: {message}", file=sys.stderr)
        sys.exit(EXIT_ERROR)


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
    except KeyboardInterrupt:
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
