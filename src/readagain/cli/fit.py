"""`readagain fit`: train, export and evaluate a model on a user's pairs."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from readagain.cli import options
from readagain.cli.main import resumable
from readagain.cli.output import persistent_console
from readagain.errors import require

if TYPE_CHECKING:
    from readagain.fitting.fit import FitResult


EXAMPLES = (
    "readagain fit pairs.csv --out models/mine",
    "readagain fit pairs.csv --out models/mine --base news",
)


def command(
    pairs: Annotated[
        list[str],
        typer.Argument(
            metavar="PAIRS", help="Files or folders of texts with headlines: CSV, JSONL, Parquet …"
        ),
    ],
    *,
    out: Annotated[
        Path,
        typer.Option(
            "--out",
            "-o",
            metavar="MODEL",
            help="Model folder to create; intermediate files are kept in MODEL.work.",
        ),
    ],
    size: Annotated[
        str | None,
        typer.Option(
            metavar="small|base|large",
            help="Size of the network.",
            show_default="chosen by the number of pairs and the device",
        ),
    ] = None,
    base: Annotated[
        str | None,
        typer.Option(metavar="MODEL", help="Bundled model or model folder to fine-tune."),
    ] = None,
    epochs: Annotated[
        int | None,
        typer.Option(
            help="Maximum number of epochs; a larger number continues a finished fit.",
            show_default="chosen by the number of pairs",
        ),
    ] = None,
    language: Annotated[
        str | None,
        typer.Option(
            metavar="CODE", help="Language of the pairs, such as de.", show_default="detected"
        ),
    ] = None,
    test: Annotated[
        str | None,
        typer.Option(metavar="INPUT", help="Pairs to evaluate on.", show_default="some of PAIRS"),
    ] = None,
    text_column: options.TextColumn = None,
    headline_column: options.HeadlineColumn = None,
    encoding: options.Encoding = "utf-8",
    on_error: options.OnErrorOption = "skip",
    device: options.Device = "auto",
    threads: options.TrainingThreads = 0,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace an existing fit in --out.")
    ] = False,
) -> None:
    """Train a model on your pairs of text and headline, and report its quality.

    Detects columns and language, chooses the settings, estimates the training time, trains, exports
    and evaluates. The same command resumes an interrupted fit.
    """
    from readagain.cli.progress import job_progress

    for module in ("onnx", "torch"):
        require(module, extra="train", purpose="fitting a model")
    from readagain.fitting.fit import fit

    with resumable():
        result = fit(
            pairs,
            out=out,
            size=size,
            base=base,
            epochs=epochs,
            language=language,
            test=test,
            text_column=text_column,
            headline_column=headline_column,
            encoding=encoding,
            on_error=on_error,
            device=device,
            threads=threads,
            overwrite=overwrite,
            console=persistent_console(),
            progress=partial(job_progress, "reading", "writing"),
        )
    _print_result(result)


def _print_result(result: "FitResult") -> None:
    for note in result.notes:
        print(note)
    if not result.is_finished:
        return
    measures = next(iter(result.scores.values()))
    print(f"{'F1 in percent':<15}" + "".join(f"{name.upper():>24}" for name in measures))
    for name, scores in result.scores.items():
        cells = (f"{value:.1f} ({low:.1f} to {high:.1f})" for value, low, high in scores.values())
        print(f"{name:<15}" + "".join(f"{cell:>24}" for cell in cells))
    print(f"{result.report}: report")
    print(f"{result.out}: ready; to use it, run: readagain serve --model {result.out}")
