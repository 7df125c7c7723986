"""The `readagain` command: finds the subcommand, and turns our errors into one line."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Annotated

import typer

from readagain import __version__
from readagain.cli.output import NO_ROOM, drop_output, open_missing_streams, take_any_text
from readagain.errors import ArgumentError, ReadAgainError, as_option

# One module of readagain.cli per command, each with a function `command`; in the order of --help.
# The modules import what they need inside the function, so that --help stays instant.
COMMANDS: tuple[str, ...] = (
    "summarize",
    "batch",
    "explain",
    "serve",
    "prepare",
    "train",
    "export",
    "inspect",
    "cases",
    "curves",
    "presets",
    "rouge",
    "evaluate",
    "tune",
    "bench",
    "reproduce",
)

EXIT_BAD_INPUT = 2
EXIT_INTERRUPTED = 130


def build_app() -> typer.Typer:
    """Gather every command into one Typer application."""
    app = typer.Typer(
        name="readagain",
        help="Read a text twice, then say it briefly.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )

    @app.callback()
    def options(
        version: Annotated[
            bool,
            typer.Option(
                "--version",
                help="Print the version and stop.",
                is_eager=True,
                callback=_print_version,
            ),
        ] = False,
        debug: Annotated[
            bool, typer.Option("--debug", help="Show the traceback of an error.")
        ] = False,
    ) -> None:
        """Read a text twice, then say it briefly."""

    for name in COMMANDS:
        module = import_module(f"readagain.cli.{name}")
        app.command(name)(_answering_interruptions()(module.command))
    return app


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"readagain {__version__}", flush=True)
        raise typer.Exit


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; our own errors become one line on stderr and exit status 2."""
    open_missing_streams()
    take_any_text()
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    # --debug is accepted anywhere on the line, since people add it to the end of what failed.
    debug = "--debug" in arguments
    arguments = [argument for argument in arguments if argument != "--debug"]
    try:
        with _answering_interruptions():
            build_app()(args=arguments)
    except ReadAgainError as error:
        if debug:
            raise
        told = error.told(as_option) if isinstance(error, ArgumentError) else error
        print(f"readagain: {told}", file=sys.stderr)
        sys.exit(EXIT_BAD_INPUT)


@contextmanager
def _answering_interruptions() -> Iterator[None]:
    """Answer Ctrl-C with a line, and a reader who left (`readagain … | head`) with silence.

    Around every command as well as around everything, since Typer would answer Ctrl-C itself and
    say nothing. A reader who left is a failure to Typer and Rich, and none to us; a disk that is
    full is one, told in a line.
    """
    try:
        yield
        sys.stdout.flush()  # while a reader who left can still be answered
    except KeyboardInterrupt:
        print("readagain: interrupted", file=sys.stderr)
        sys.exit(EXIT_INTERRUPTED)
    except (BrokenPipeError, SystemExit) as end:
        if isinstance(end, SystemExit) and not isinstance(end.__context__, BrokenPipeError):
            raise
        drop_output()
        sys.exit(0)
    except OSError as error:
        if error.errno not in NO_ROOM:
            raise
        print(
            f"readagain: cannot write its output: {error.strerror}; make room, and give the "
            "command again",
            file=sys.stderr,
        )
        drop_output()
        sys.exit(EXIT_BAD_INPUT)
