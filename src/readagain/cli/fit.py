"""`readagain fit`: train, export and evaluate a model of one's own pairs."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from readagain.cli import options

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
            help="Model folder to create; unfinished work is kept in MODEL.work beside it.",
        ),
    ],
    size: Annotated[
        str | None,
        typer.Option(
            metavar="small|base|large",
            help="Size of the network (default: by the number of pairs and the machine).",
        ),
    ] = None,
    base: Annotated[
        str | None,
        typer.Option(metavar="MODEL", help="Bundled model or model folder to fine-tune."),
    ] = None,
    epochs: Annotated[
        int | None,
        typer.Option(
            help="Maximum number of epochs (default: by the number of pairs); more than before "
            "continue a finished model."
        ),
    ] = None,
    language: Annotated[
        str | None,
        typer.Option(metavar="CODE", help="Language of the pairs, such as de (default: detected)."),
    ] = None,
    test: Annotated[
        str | None,
        typer.Option(metavar="INPUT", help="Pairs for the report (default: split off)."),
    ] = None,
    text_column: options.TextColumn = None,
    headline_column: options.HeadlineColumn = None,
    encoding: options.Encoding = "utf-8",
    device: options.Device = "auto",
    threads: options.TrainingThreads = 0,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace another fit in --out.")
    ] = False,
) -> None:
    """Train a model of your own on pairs of text and headline, and report how good it is.

    Finds the columns and the language, chooses the training, says how long it will take, trains,
    exports and evaluates. The same command resumes an interrupted fit.
    """
    from readagain.cli.main import resumable
    from readagain.cli.output import lasting_console
    from readagain.cli.progress import job_progress
    from readagain.corpus.readers.find import CorpusReadOptions
    from readagain.errors import require

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
            reading=CorpusReadOptions(
                text_column=text_column, headline_column=headline_column, encoding=encoding
            ),
            device=device,
            threads=threads,
            overwrite=overwrite,
            console=lasting_console(),
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
    print(f"{result.out}: ready; readagain serve --model {result.out}")
