"""`readagain tune`: tune the weights of extractive features, as ABS+ does."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Unpack

import typer

from readagain.cli import options
from readagain.config.options import SummarizeOptions
from readagain.counts import pluralize

if TYPE_CHECKING:
    from readagain.evaluation.tuning import Round


@options.decoding_options("beam", default="from the protocol or model")
def command(
    model: Annotated[
        str, typer.Argument(metavar="NAME|FOLDER", help="Bundled model or model directory.")
    ],
    *,
    data: Annotated[
        Path,
        typer.Option(
            metavar="FOLDER|FILE",
            help="Texts with references, as for 'readagain evaluate'; not those that the model is "
            "evaluated on later.",
        ),
    ],
    protocol: options.RougeProtocol,
    objective: Annotated[
        str, typer.Option(help="Measure to maximize: rouge-1, rouge-2, rouge-l or mean.")
    ] = "rouge-1",
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FOLDER",
            help="Directory for a copy of the model with the tuned weights.",
        ),
    ] = None,
    split: options.Split = None,
    limit: options.Limit = None,
    rounds: Annotated[int, typer.Option(help="Maximum number of rounds.")] = 10,
    seed: Annotated[int, typer.Option(help="Random seed.")] = 1,
    threads: options.Threads = None,
    precision: options.Precision = None,
    **decoding: Unpack[SummarizeOptions],
) -> None:
    """Tune the weights of extractive features on a data set.

    The weights are printed; with --out they are also written into a copy of the model.
    """
    import sys

    from readagain.cli.progress import text_progress
    from readagain.corpus.readers.find import CorpusReadOptions
    from readagain.errors import ConfigError
    from readagain.evaluation.dataset import read_dataset
    from readagain.evaluation.network import NetworkSystem
    from readagain.evaluation.systems import load_system
    from readagain.evaluation.tuning import tune
    from readagain.model_dir import check_new_dir, write_tuned

    if rounds < 1:
        raise ConfigError(f"--rounds is {rounds}; expected 1 or more")
    if out is not None:
        check_new_dir(out)
    network = load_system(model, protocol, decoding=decoding, threads=threads, precision=precision)
    if not isinstance(network, NetworkSystem):
        raise ConfigError(f"{model}: no beam search; choose a bundled model or a model directory")
    dataset = read_dataset(data, CorpusReadOptions(), split=split).first(limit)
    best = None
    with text_progress(rounds * len(dataset.rows)) as count:
        found = tune(
            network,
            dataset,
            protocol,
            objective=objective,
            max_rounds=rounds,
            seed=seed,
            on_summary=count,
        )
        for number, each in enumerate(found, start=1):
            print(f"round {number}: {_describe(each, objective)}", file=sys.stderr, flush=True)
            if best is None or each.value > best.value:
                best = each
    assert best is not None
    if out is not None:
        origin = {
            "data": dataset.fingerprint,
            "rows": len(dataset.rows),
            "protocol": protocol,
            "objective": objective,
            "value": best.value,
            "seed": seed,
        }
        write_tuned(network.model_dir, out, best.settings, origin)
    for name, value in best.settings.items():
        print(f"--set decode.{name}={value:g}")
    if out is not None:
        print(out)


def _describe(found: "Round", objective: str) -> str:
    weights = " ".join(f"{name} {value:g}" for name, value in found.weights_by_name.items())
    return (
        f"{objective} {100 * found.value:.3f} with {weights}; "
        f"{pluralize(found.new, 'new summary', 'new summaries')} of {found.found:,}"
    )
