"""`readagain train`: train a network on a prepared corpus, or go on where it stopped."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from readagain.cli import options

if TYPE_CHECKING:
    from readagain.training.loop import TrainingResult


def command(
    preset: Annotated[
        str | None,
        typer.Argument(
            metavar="PRESET", help="A preset or a .toml run file; may be left out with --from."
        ),
    ] = None,
    *,
    data: Annotated[
        Path, typer.Option("--data", "-d", metavar="FOLDER", help="Prepared corpus to train on.")
    ],
    out: Annotated[
        Path,
        typer.Option(
            "--out", "-o", metavar="FOLDER", help="Folder of the run, and of the model it makes."
        ),
    ],
    changes: options.Changes = None,
    seed: Annotated[int | None, typer.Option(help="Instead of the run's own seed.")] = None,
    begin_from: Annotated[
        str | None,
        typer.Option(
            "--from", metavar="MODEL", help="Fine-tune this model: a folder, or a bundled name."
        ),
    ] = None,
    extend_vocab: Annotated[
        int,
        typer.Option(
            metavar="WORDS",
            min=0,
            help="With --from: let each vocabulary take up so many words of this corpus.",
        ),
    ] = 0,
    device: options.Device = options.DeviceName.AUTO,
    threads: options.TrainingThreads = 0,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Remove another run that is in --out.")
    ] = False,
) -> None:
    """Train a network on a prepared corpus; the best weights become a model folder.

    Killed or interrupted, it goes on where it stopped when the same command is given again. Under
    torchrun, several processes or machines train together.
    """
    from readagain.cli.output import lasting_console
    from readagain.errors import require

    require("torch", extra="train", purpose="training")
    from readagain.export.recover import recover_weights
    from readagain.training.job import TrainingJob
    from readagain.training.loop import train

    job = TrainingJob(
        preset=preset,
        data=data,
        out=out,
        changes=tuple(changes or ()),
        seed=seed,
        begin_from=begin_from,
        extend_vocab=extend_vocab,
        overwrite=overwrite,
        recover_weights=recover_weights,
    )
    outcome = train(job, device_name=device.value, threads=threads, console=lasting_console())
    _print_outcome(outcome, out)


def _print_outcome(outcome: "TrainingResult | None", out: Path) -> None:
    import os

    if os.environ.get("RANK", "0") != "0":
        return
    if outcome is None:
        print(f"{out}: this run is finished already; 'readagain inspect {out}' shows its model")
        return
    state = outcome.state
    if not outcome.is_finished:
        print(
            f"stopped and saved at step {state.step:,} of {outcome.total_steps:,}; "
            "to go on, give the same command again"
        )
        return
    early = ", stopped early" if state.has_stopped_early else ""
    print(f"finished at step {state.step:,}{early}, after {state.minutes:.1f} minutes")
    if state.best is not None:
        best = state.best
        rouge = ""
        if best.rouge_1 is not None:
            rouge = f", ROUGE F1 {best.rouge_1:.1f} / {best.rouge_2:.1f} / {best.rouge_l:.1f}"
        print(f"kept the weights of step {best.step:,}: dev loss {best.dev_loss:.3f}{rouge}")
    print(f"{out}: ready, see MODEL_CARD.md in it")
