"""`readagain evaluate`: score a model on a data set."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from readagain.api import evaluate
from readagain.cli import options
from readagain.cli.options import writing_option
from readagain.cli.rouge import score_table
from readagain.rouge.options import PROTOCOLS

if TYPE_CHECKING:
    from readagain.evaluation.evaluate import Evaluation

PROTOCOL_HELP = f"Protocol, which sets decoding and the kind of ROUGE: {', '.join(PROTOCOLS)}."

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
@options.argument_options(
    evaluate,
    model={"short": "-m", "metavar": "NAME|FOLDER"},
    data={"metavar": "FOLDER|FILE"},
    protocol={"metavar": "NAME", "help": PROTOCOL_HELP},
)
@options.argument_options(
    evaluate,
    panel="Reading",
    split={},
    limit={"metavar": "N"},
    sample={"metavar": "N"},
    seed={},
    is_tokenized={},
    format={},
    text_column={},
    headline_column={},
    headlines={"metavar": "FILE"},
    encoding={},
    on_error={},
)
@options.argument_options(
    evaluate,
    panel="Running",
    threads={},
    precision={"metavar": "int8|float32"},
)
def command(
    *,
    save: Annotated[
        Path | None,
        writing_option(
            metavar="FILE",
            help="File for the summaries, one per line; a .jsonl file also has the texts, the "
            "references and the scores.",
        ),
    ] = None,
    as_json: Annotated[bool, writing_option("--json", help="Print one JSON object.")] = False,
    **arguments: Any,
) -> None:
    """Summarize a data set with a model and score the summaries with ROUGE."""
    from readagain.cli.progress import text_progress
    from readagain.evaluation.report import save_summaries
    from readagain.storage.files import check_writable

    check_writable(save)
    result = evaluate(progress=text_progress, **arguments)
    if save is not None:
        save_summaries(save, result)
    if as_json:
        print(json.dumps(result.as_json(), indent=2))
    else:
        _print_tables(result)


def _print_tables(result: "Evaluation") -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

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
