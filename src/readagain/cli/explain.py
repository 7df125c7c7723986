"""`readagain explain`: show the weights and the copied words of a headline."""

import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Unpack

import typer

from readagain.cli import options
from readagain.cli.inputs import STDIN, make_read_options, read_inputs
from readagain.cli.output import check_new
from readagain.config.options import SummarizeOptions
from readagain.errors import ConfigError, DataError
from readagain.formats.records import valid_records
from readagain.storage.bundled import DEFAULT_MODEL, model_name

if TYPE_CHECKING:
    from readagain.formats.texts import TextRecord

EXAMPLES = (
    "readagain explain article.txt",
    "readagain explain article.txt --html article.html --png article.png",
)


@options.decoding_options(
    without=("n_best", "diversity", "explain", "tokenized", "min_confidence", "fallback")
)
def command(
    input: Annotated[
        str,
        typer.Argument(
            metavar="TEXT|FILE|-",
            help="Text, or file with one text; - or nothing for standard input.",
            show_default=False,
        ),
    ] = STDIN,
    *,
    model: options.Model = DEFAULT_MODEL,
    html: Annotated[
        Path | None,
        typer.Option("--html", metavar="FILE", help="File for the explanation as a web page."),
    ] = None,
    png: Annotated[
        Path | None,
        typer.Option("--png", metavar="FILE", help="File for a picture: .png, .svg or .pdf."),
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace existing files of --html and --png.")
    ] = False,
    as_json: options.AsJson = False,
    encoding: options.Encoding = "utf-8",
    threads: options.Threads = None,
    **decoding: Unpack[SummarizeOptions],
) -> None:
    """Show the importance and attention weights of a headline, and its copied words."""
    from readagain.engine.summarizer import Summarizer
    from readagain.explain.page import explanation_page
    from readagain.explain.plot import check_plot, plot_attention
    from readagain.explain.view import explanation_view
    from readagain.formats.jsonl import printable_json
    from readagain.storage.files import check_writable, write_output

    if overwrite and html is None and png is None:
        raise ConfigError("--overwrite: needs --html or --png; name a file to write")
    for file in (html, png):
        check_writable(file)
        if file is not None and not overwrite:
            check_new(file)
    if png is not None:
        check_plot(png)
    record = _read_text(input, encoding)
    summarizer = Summarizer.load(model, threads=threads)
    summary = summarizer.summarize(record.text, **(decoding | {"explain": True}))
    view = explanation_view(record.text, summary, model=model_name(model), where=record.where)
    if png is not None:
        plot_attention(view, png)
        print(f"{png}: written", file=sys.stderr)
    if html is not None:
        with write_output(html) as temporary:
            page = explanation_page(view)
            temporary.write_text(page, encoding="utf-8", errors="xmlcharrefreplace")
        print(f"{html}: written", file=sys.stderr)
    # Bytes of an argument that are not UTF-8 are written as \udc.., which is valid JSON.
    sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")  # type: ignore[union-attr]
    if as_json:
        print(printable_json(asdict(view)))
    elif html is None and png is None:
        from rich.console import Console

        from readagain.explain.terminal import print_explanation

        print_explanation(view, Console(highlight=False))


def _read_text(argument: str, encoding: str) -> "TextRecord":
    """Return the only text of an argument, a file or standard input."""
    read_options = make_read_options(None, None, encoding)
    records = valid_records(read_inputs([argument], read_options, command="explain"), "stop")
    record = next(records, None)
    if record is None:
        raise DataError(f"{argument}: contains no text; expected one")
    if next(records, None) is not None:
        raise DataError(f"{argument}: contains several texts; expected one")
    return record
