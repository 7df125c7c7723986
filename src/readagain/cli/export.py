"""`readagain export`: export a trained model to ONNX graphs."""

from pathlib import Path
from typing import Annotated, Any

import typer

from readagain.api import export_model
from readagain.cli import options
from readagain.errors import pluralize

EXAMPLES = (
    "readagain export runs/mine --check-on data/mine",
    "readagain export runs/mine --out models/mine --precision int8",
)


@options.argument_options(
    export_model,
    out={"short": "-o", "metavar": "FOLDER", "show_default": "graphs are added to RUN"},
    precision={"metavar": "int8|float32|both", "parser": str},  # checked by the function
    shortlist={"metavar": "WORDS"},
    check_on={"metavar": "PREPARED"},
    check_texts={},
)
@options.argument_options(export_model, panel="Running", threads={})
def command(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Model folder of 'readagain train'.")],
    **arguments: Any,
) -> None:
    """Export a trained model to ONNX graphs, which are first compared with its network."""
    result = export_model(run, **arguments)
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
    print(f"{path}: ready; to use it, run: readagain summarize --model {path} TEXT")
