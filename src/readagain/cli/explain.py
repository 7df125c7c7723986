"""`readagain explain`: why a headline is as it is, as coloured text, a page, a picture or JSON."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Unpack

import typer

from readagain.cli import options
from readagain.cli.inputs import STDIN, read_inputs, read_options
from readagain.config.options import SummarizeOptions
from readagain.storage.bundled import DEFAULT_MODEL, model_name

if TYPE_CHECKING:
    from readagain.formats.texts import TextRecord


@options.decoding_options(
    "max_words", "min_words", "min_bytes", "max_bytes", "beam", "case", "begin"
)
def command(
    input: Annotated[
        str,
        typer.Argument(
            metavar="TEXT|FILE|-",
            help="A text, or a file with one; - or nothing for standard input.",
            show_default=False,
        ),
    ] = STDIN,
    *,
    model: options.Model = DEFAULT_MODEL,
    html: Annotated[
        Path | None, typer.Option("--html", metavar="F", help="Write a page that loads nothing.")
    ] = None,
    png: Annotated[
        Path | None,
        typer.Option("--png", metavar="F", help="Draw a picture; .svg and .pdf do as well."),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print everything as one JSON object.")
    ] = False,
    encoding: options.Encoding = "utf-8",
    threads: options.Threads = None,
    **decoding: Unpack[SummarizeOptions],
) -> None:
    """Show which words the model weighed, looked at and copied for a headline."""
    import sys

    from readagain.engine.summarizer import Summarizer
    from readagain.explain.page import write_page
    from readagain.explain.picture import check_picture, draw_picture
    from readagain.explain.story import tell
    from readagain.formats.jsonl import to_json
    from readagain.storage.files import check_writable, write_output

    for file in (html, png):
        check_writable(file)
    if png is not None:
        check_picture(png)
    record = _only_text(input, encoding)
    summarizer = Summarizer.load(model, threads=threads)
    summary = summarizer.summarize(record.text, **(decoding | {"explain": True}))
    story = tell(record.text, summary, model=model_name(model), where=record.where)
    if png is not None:
        draw_picture(story, png)
        print(f"{png}: written", file=sys.stderr)
    if html is not None:
        with write_output(html) as aside:
            aside.write_text(write_page(story), encoding="utf-8", errors="xmlcharrefreplace")
        print(f"{html}: written", file=sys.stderr)
    # Half a character of an undecodable argument becomes \udc.., which JSON reads back.
    sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")  # type: ignore[union-attr]
    if as_json:
        print(to_json(story.to_dict()))
    elif html is None and png is None:
        from rich.console import Console

        from readagain.explain.terminal import print_story

        print_story(story, Console(highlight=False))


def _only_text(argument: str, encoding: str) -> "TextRecord":
    """Read the one text that an argument names.

    Raises:
        ConfigError: for an encoding that there is not.
        DataError: for files with none or with several.
    """
    from readagain.errors import DataError

    reading = read_options(None, None, encoding)
    records = read_inputs([argument], reading, command="explain")
    record = next(records, None)
    if record is None:
        raise DataError(f"{argument}: no text in it; expected one")
    if next(records, None) is not None:
        raise DataError(
            f"{argument}: several texts; expected one: give it in quotes, or in a file of its own"
        )
    return record
