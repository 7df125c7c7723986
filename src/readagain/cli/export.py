"""`readagain export`: from a trained model to graphs that need no torch."""

from pathlib import Path
from typing import Annotated

import typer

from readagain.cli import options
from readagain.counts import counted


def command(
    run: Annotated[
        Path, typer.Argument(metavar="RUN", help="A model folder, as 'train' writes it.")
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FOLDER",
            help="Make a folder for inference alone, without weights; RUN itself gets the graphs "
            "unless given.",
        ),
    ] = None,
    precision: Annotated[str, typer.Option(help="int8, float32 or both.")] = "both",
    shortlist: Annotated[
        int | None,
        typer.Option(
            metavar="WORDS",
            help="Let only so many words compete, those of the text and the most frequent: faster. "
            "Needs --out, and --check-on to measure what that costs. All words unless given.",
        ),
    ] = None,
    check_on: Annotated[
        Path | None,
        typer.Option(
            metavar="PREPARED",
            help="A prepared corpus whose dev pairs the graphs are compared on; random words "
            "unless given.",
        ),
    ] = None,
    check_texts: Annotated[
        int | None,
        typer.Option(
            help="How many texts are compared; 1000 of a corpus, 100 of random words if unset."
        ),
    ] = None,
    threads: options.Threads = None,
) -> None:
    """Write ONNX graphs of a model, after comparing them with its network."""
    from readagain.errors import ConfigError, require
    from readagain.model_dir import PRECISIONS, ModelDir
    from readagain.processors import num_threads

    if precision not in (*PRECISIONS, "both"):
        raise ConfigError(f"--precision is {precision!r}; expected int8, float32 or both")
    if check_texts is not None and check_texts < 1:
        raise ConfigError(f"--check-texts is {check_texts}; expected 1 or more")
    if shortlist is not None and out is None:
        raise ConfigError(
            f"--shortlist is {shortlist}, but RUN itself stays a network in which all words "
            "compete; name a folder for the graphs with --out"
        )
    if shortlist is not None and check_on is None:
        raise ConfigError(
            f"--shortlist is {shortlist}, and what that costs shows on real headlines alone; name "
            "a prepared corpus with --check-on"
        )
    for module in ("onnx", "torch"):
        require(module, extra="train", purpose="exporting")
    from readagain.export.check import check_graphs, corpus_texts, random_texts
    from readagain.export.write import describe_export, folder_graphs, with_shortlist, write_graphs

    folder, whole = ModelDir.open(run), None
    if shortlist is not None:
        folder, whole = with_shortlist(folder, shortlist), folder
    graphs = folder_graphs(folder, [each for each in PRECISIONS if precision in (each, "both")])
    if check_on is None:
        origin, texts = "random words", random_texts(folder, check_texts or 100)
    else:
        origin, texts = f"dev pairs of {check_on.name}", corpus_texts(check_on, check_texts or 1000)
    check = check_graphs(
        folder, graphs, texts, origin=origin, threads=num_threads(threads), whole=whole
    )
    path = write_graphs(folder, graphs, describe_export(graphs, check.to_dict()), out=out)

    for each, contents in graphs.items():
        print(f"{each:<9} {sum(map(len, contents)) / 1e6:8.1f} MB")
    if check.same_n_best is not None:
        print(
            f"float32   the network's {counted(check.texts, 'n-best list')}: "
            f"{check.same_n_best:.1%}, scores "
            f"within {check.largest_score_difference:.1e}"
        )
    if check.int8_same_best is not None:
        print(f"int8      the network's best summary: {check.int8_same_best:.1%} of the texts")
    for name, share in check.same_as_whole.items():
        print(f"{name:<9} the best summary without a shortlist: {share:.1%} of the texts")
    for name, scores in check.rouge.items():
        print(f"{name:<9} " + "  ".join(f"{key} {value:.2f}" for key, value in scores.items()))
    print(f"{path}: ready; readagain summarize --model {path} TEXT")
