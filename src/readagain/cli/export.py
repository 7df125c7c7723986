"""`readagain export`: export a trained model to ONNX graphs."""

from pathlib import Path
from typing import Annotated

import typer

from readagain.cli import options
from readagain.counts import pluralize

EXAMPLES = (
    "readagain export runs/mine --check-on data/mine",
    "readagain export runs/mine --out models/mine --precision int8",
)


def command(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Model folder of 'readagain train'.")],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FOLDER",
            help="New model folder for inference only, without weights.",
            show_default="graphs are added to RUN",
        ),
    ] = None,
    precision: Annotated[
        str, typer.Option(metavar="int8|float32|both", help="Number format of the graphs.")
    ] = "both",
    shortlist: Annotated[
        int | None,
        typer.Option(
            metavar="WORDS",
            help="Number of output words to score for each text: its own words and the most "
            "frequent other ones. Fewer are faster. Needs --out and --check-on.",
            show_default="all words",
        ),
    ] = None,
    check_on: Annotated[
        Path | None,
        typer.Option(
            metavar="PREPARED",
            help="Prepared corpus, on whose dev pairs the graphs are compared with the network.",
            show_default="compare on random words",
        ),
    ] = None,
    check_texts: Annotated[
        int | None,
        typer.Option(
            help="Number of texts to compare.",
            show_default="1,000 of a corpus, 100 of random words",
        ),
    ] = None,
    threads: options.Threads = None,
) -> None:
    """Export a trained model to ONNX graphs, which are first compared with its network."""
    from readagain.api import export_model

    result = export_model(
        run,
        out,
        precision=precision,  # type: ignore[arg-type]
        shortlist=shortlist,
        check_on=check_on,
        check_texts=check_texts,
        threads=threads,
    )
    check, path = result.check, result.path
    num_texts = pluralize(check.texts, "text")
    for graph_precision, num_bytes in result.num_bytes.items():
        print(f"{graph_precision:<9} {num_bytes / 1e6:8.1f} MB")
    if check.same_n_best is not None:
        print(
            f"float32   same n-best list as the network for {check.same_n_best:.1%} of "
            f"{num_texts}, scores within {check.largest_score_difference:.1e}"
        )
    if check.int8_same_best is not None:
        print(
            f"int8      same summary as the network for {check.int8_same_best:.1%} of {num_texts}"
        )
    for name, share in check.same_as_whole.items():
        print(f"{name:<9} same summary as without a shortlist for {share:.1%} of {num_texts}")
    for name, scores in check.rouge.items():
        print(f"{name:<9} " + "  ".join(f"{key} {value:.2f}" for key, value in scores.items()))
    print(f"{path}: ready; readagain summarize --model {path} TEXT")
