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
            help="Texts with references, as for 'readagain evaluate'; do not evaluate on them "
            "later.",
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
        tuning_rounds = tune(
            network,
            dataset,
            protocol,
            objective=objective,
            max_rounds=rounds,
            seed=seed,
            on_summary=count,
        )
        for number, tuning_round in enumerate(tuning_rounds, start=1):
            line = f"round {number}: {_describe_round(tuning_round, objective)}"
            print(line, file=sys.stderr, flush=True)
            if best is None or tuning_round.value > best.value:
                best = tuning_round
    assert best is not None
    if out is not None:
        provenance = {
            "data": dataset.fingerprint,
            "rows": len(dataset.rows),
            "protocol": protocol,
            "objective": objective,
            "value": best.value,
            "seed": seed,
        }
        write_tuned(network.model_dir, out, best.settings, provenance)
    for name, value in best.settings.items():
        print(f"--set decode.{name}={value:g}")
    if out is not None:
        print(out)


def _describe_round(tuning_round: "Round", objective: str) -> str:
    weights = " ".join(f"{name} {value:g}" for name, value in tuning_round.weights_by_name.items())
    new = pluralize(tuning_round.new, "new summary", "new summaries")
    return (
        f"{objective} {100 * tuning_round.value:.3f} with {weights}; "
        f"{new}, {tuning_round.found:,} so far"
    )
