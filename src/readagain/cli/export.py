"""`readagain export`: write the ONNX graphs of a trained model."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from readagain.cli import options
from readagain.counts import pluralize


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
            help="Number of output words to score: words of the text and the most frequent ones, "
            "which is faster; needs --out, and --check-on to measure the loss.",
            show_default="all words",
        ),
    ] = None,
    check_on: Annotated[
        Path | None,
        typer.Option(
            metavar="PREPARED",
            help="Prepared corpus; its dev examples are used to compare graphs and network.",
            show_default="random words",
        ),
    ] = None,
    check_texts: Annotated[
        int | None,
        typer.Option(
            help="Number of texts to compare.",
            show_default="1000 of a corpus, 100 of random words",
        ),
    ] = None,
    threads: options.Threads = None,
) -> None:
    """Write the ONNX graphs of a model, after comparing them with its network."""
    from readagain.errors import ConfigError, require
    from readagain.model_dir import PRECISIONS, ModelDir
    from readagain.processors import num_threads

    if precision not in (*PRECISIONS, "both"):
        raise ConfigError(f"--precision is {precision!r}; expected int8, float32 or both")
    if check_texts is not None and check_texts < 1:
        raise ConfigError(f"--check-texts is {check_texts}; expected 1 or more")
    if shortlist is not None and out is None:
        raise ConfigError(
            f"--shortlist is {shortlist}, which needs a new model folder; name one with --out"
        )
    if shortlist is not None and check_on is None:
        raise ConfigError(
            f"--shortlist is {shortlist}, which must be measured on real headlines; name a "
            "prepared corpus with --check-on"
        )
    for module in ("onnx", "torch"):
        require(module, extra="train", purpose="exporting")
    from readagain.export.check import check_graphs, corpus_texts, random_texts
    from readagain.export.write import describe_export, model_graphs, with_shortlist, write_graphs

    model_dir, full_vocab_model = ModelDir.open(run), None
    if shortlist is not None:
        model_dir, full_vocab_model = with_shortlist(model_dir, shortlist), model_dir
    graphs = model_graphs(model_dir, [name for name in PRECISIONS if precision in (name, "both")])
    if check_on is None:
        origin, texts = "random words", random_texts(model_dir, check_texts or 100)
    else:
        origin, texts = f"dev pairs of {check_on.name}", corpus_texts(check_on, check_texts or 1000)
    check = check_graphs(
        model_dir,
        graphs,
        texts,
        origin=origin,
        threads=num_threads(threads),
        full_vocab_model=full_vocab_model,
    )
    path = write_graphs(model_dir, graphs, describe_export(graphs, asdict(check)), out=out)

    for graph_precision, contents in graphs.items():
        print(f"{graph_precision:<9} {sum(map(len, contents)) / 1e6:8.1f} MB")
    if check.same_n_best is not None:
        print(
            f"float32   the network's {pluralize(check.texts, 'n-best list')}: "
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
