"""`readagain fit`: train, export and evaluate a model on a user's pairs."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from readagain.cli import options
from readagain.cli.main import resumable
from readagain.cli.output import persistent_console
from readagain.fitting.fit import fit

if TYPE_CHECKING:
    from readagain.fitting.job import FitResult

EXAMPLES = (
    "readagain fit pairs.csv --out models/mine",
    "readagain fit pairs.csv --out models/mine --base news",
)


@options.argument_options(
    fit,
    out={"short": "-o", "metavar": "MODEL"},
    size={"metavar": "small|base|large"},
    base={"metavar": "MODEL"},
    epochs={},
    language={"metavar": "CODE"},
    test={"metavar": "INPUT"},
    overwrite={},
)
@options.argument_options(
    fit, panel="Reading", text_column={}, headline_column={}, encoding={}, on_error={}
)
@options.argument_options(fit, panel="Running", device={}, threads={})
def command(
    pairs: Annotated[
        list[str],
        typer.Argument(
            metavar="PAIRS", help="Files or folders of texts with headlines: CSV, JSONL, Parquet …"
        ),
    ],
    **arguments: Any,
) -> None:
    """Train a model on your pairs of text and headline, and report its quality.

    Detects columns and language, chooses the settings, estimates the training time, trains, exports
    and evaluates. The same command resumes an interrupted fit.
    """
    from readagain.cli.progress import job_progress

    with resumable():
        result = fit(
            pairs,
            console=persistent_console(),
            progress=job_progress,
            **arguments,
        )
    _print_result(result)


def _print_result(result: "FitResult") -> None:
    for note in result.notes:
        print(note)
    if not result.is_finished:
        return
    measures = next(iter(result.scores.values()))
    width = max(len(name) for name in ("F1 in percent", *result.scores)) + 2
    print(f"{'F1 in percent':<{width}}" + "".join(f"{name.upper():>24}" for name in measures))
    for name, scores in result.scores.items():
        cells = (f"{value:.1f} ({low:.1f} to {high:.1f})" for value, low, high in scores.values())
        print(f"{name:<{width}}" + "".join(f"{cell:>24}" for cell in cells))
    print(f"{result.report}: report")
    print(f"{result.out}: ready; to use it, run: readagain serve --model {result.out}")
