"""`readagain evaluate`: score a model on a data set."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Unpack

import typer

from readagain.cli import options
from readagain.cli.options import reading_option, writing_option
from readagain.config.options import SummarizeOptions
from readagain.rouge.options import UNICODE

if TYPE_CHECKING:
    from readagain.evaluation.evaluate import Evaluation


EXAMPLES = (
    "readagain evaluate --model news --data data/mine",
    "readagain evaluate --model runs/mine --data test.jsonl --save summaries.jsonl",
    "readagain evaluate --model lead --data DUC --protocol duc2004",
)


@options.decoding_options(
    "beam",
    "min_words",
    "max_words",
    "min_bytes",
    "max_bytes",
    "style",
    default="from the protocol or model",
)
def command(
    *,
    model: Annotated[
        str,
        typer.Option(
            "--model",
            "-m",
            metavar="NAME|FOLDER",
            help="Bundled model, model folder, or baseline: prefix, lead or topiary.",
        ),
    ],
    data: Annotated[
        Path,
        typer.Option(
            metavar="FOLDER|FILE",
            help="Texts with references: a prepared corpus, a folder in the layout of Gigaword or "
            "DUC, or a file in any format of 'readagain prepare'.",
        ),
    ],
    protocol: options.RougeProtocol = UNICODE,
    split: options.Split = None,
    limit: options.Limit = None,
    sample: Annotated[
        int | None,
        reading_option(metavar="N", help="Size of a random sample of the rows."),
    ] = None,
    seed: Annotated[int, reading_option(help="Random seed of --sample.")] = 1,
    is_tokenized: options.TokenizedOrRaw = None,
    format: Annotated[
        str | None, reading_option(help="Format of the data.", show_default="detected")
    ] = None,
    text_column: options.TextColumn = None,
    headline_column: options.HeadlineColumn = None,
    headlines: options.Headlines = None,
    encoding: options.Encoding = "utf-8",
    on_error: options.OnErrorOption = "stop",
    threads: options.Threads = None,
    precision: options.Precision = None,
    save: Annotated[
        Path | None,
        writing_option(
            metavar="FILE",
            help="File for the summaries, one per line; a .jsonl file also has the texts, the "
            "references and the scores.",
        ),
    ] = None,
    as_json: Annotated[bool, writing_option("--json", help="Print one JSON object.")] = False,
    **decoding: Unpack[SummarizeOptions],
) -> None:
    """Summarize a data set with a model and score the summaries with ROUGE."""
    from readagain.api import evaluate
    from readagain.cli.progress import text_progress
    from readagain.evaluation.report import save_summaries
    from readagain.storage.files import check_writable

    check_writable(save)
    result = evaluate(
        model,
        data,
        protocol=protocol,
        split=split,
        limit=limit,
        sample=sample,
        seed=seed,
        format=format,
        text_column=text_column,
        headline_column=headline_column,
        headlines=headlines,
        encoding=encoding,
        is_tokenized=is_tokenized,
        on_error=on_error,
        threads=threads,
        precision=precision,
        progress=text_progress,
        **decoding,
    )
    if save is not None:
        save_summaries(save, result)
    if as_json:
        import json

        print(json.dumps(result.as_json(), indent=2))
    else:
        _print_tables(result)


def _print_tables(result: "Evaluation") -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    from readagain.cli.rouge import score_table
    from readagain.evaluation.report import metadata, stats_rows

    console = Console()
    console.print(score_table(result.rouge, f"{escape(result.system)}, {result.protocol}"))
    table = Table("", title="statistics")
    for column in ("summaries", "references"):
        table.add_column(column, justify="right")
    for row in stats_rows(result):
        table.add_row(*row)
    console.print(table)
    for name, value in metadata(result):
        # Long lines are not wrapped, since users copy them.
        console.print(f"{name:<8} {value}", soft_wrap=True, highlight=False, markup=False)
