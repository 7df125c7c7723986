"""`readagain train`: train a network on a prepared corpus, or resume."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from readagain.cli import options

if TYPE_CHECKING:
    from readagain.training.loop import TrainingResult


EXAMPLES = (
    "readagain train tiny --data data/mine --out runs/mine",
    "readagain train tiny --data data/mine --out runs/mine --set train.epochs=20",
    "readagain train --from runs/mine --data data/more --out runs/more",
)


def command(
    preset: Annotated[
        str | None,
        typer.Argument(metavar="PRESET", help="Preset or .toml run file; optional with --from."),
    ] = None,
    *,
    data: Annotated[
        Path, typer.Option("--data", "-d", metavar="FOLDER", help="Prepared corpus to train on.")
    ],
    out: Annotated[
        Path,
        typer.Option(
            "--out", "-o", metavar="FOLDER", help="Folder for the run and the trained model."
        ),
    ],
    changes: options.Changes = None,
    seed: Annotated[
        int | None, typer.Option(help="Random seed.", show_default="from the preset")
    ] = None,
    begin_from: Annotated[
        str | None,
        typer.Option("--from", metavar="MODEL", help="Bundled model or model folder to fine-tune."),
    ] = None,
    extend_vocab: Annotated[
        int,
        typer.Option(
            metavar="WORDS",
            min=0,
            help="With --from: number of words of this corpus to add to each vocabulary.",
        ),
    ] = 0,
    device: options.Device = "auto",
    threads: options.TrainingThreads = 0,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace another run in --out.")
    ] = False,
) -> None:
    """Train a network on a prepared corpus, and write its best weights to a model folder.

    The same command resumes an interrupted run; with more train.epochs it continues a finished
    run. Under torchrun, several processes or machines train together.
    """
    from readagain.api import train
    from readagain.cli.output import persistent_console

    result = train(
        preset,
        data=data,
        out=out,
        changes=changes or (),
        seed=seed,
        begin_from=begin_from,
        extend_vocab=extend_vocab,
        device=device,
        threads=threads,
        overwrite=overwrite,
        console=persistent_console(),
    )
    _print_result(result, out)


def _print_result(result: "TrainingResult | None", out: Path) -> None:
    """Print how the training ended; `result` is None if an earlier call had finished the run."""
    import os

    if os.environ.get("RANK", "0") != "0":  # under torchrun, only the first process prints
        return
    if result is None:
        print(f"{out}: finished already; see 'readagain models {out}'")
        return
    state = result.state
    if not result.is_finished:
        print(
            f"stopped and saved at step {state.step:,} of {result.total_steps:,}; "
            "run the same command to resume"
        )
        return
    early_note = ", stopped early" if state.has_stopped_early else ""
    print(f"finished at step {state.step:,}{early_note}, after {state.minutes:.1f} minutes")
    if state.best is not None:
        best = state.best
        rouge_note = ""
        if best.rouge_1 is not None:
            rouge_note = f", ROUGE F1 {best.rouge_1:.1f} / {best.rouge_2:.1f} / {best.rouge_l:.1f}"
        print(f"kept the weights of step {best.step:,}: dev loss {best.dev_loss:.3f}{rouge_note}")
    if state.is_improving:
        print(
            f"still improving: the last validation lowered the dev loss by {state.last_gain:.1%}; "
            f"run the same command with --set train.epochs={2 * state.epochs} to continue"
        )
    print(f"{out}: ready, see MODEL_CARD.md in it")
