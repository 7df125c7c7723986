"""`readagain train`: train a network on a prepared corpus, or resume."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from readagain.api import train
from readagain.cli import options
from readagain.cli.output import persistent_console

if TYPE_CHECKING:
    from readagain.training.loop import TrainingResult

EXAMPLES = (
    "readagain train tiny --data data/mine --out runs/mine",
    "readagain train tiny --data data/mine --out runs/mine --set train.epochs=20",
    "readagain train --from runs/mine --data data/more --out runs/more",
)


@options.argument_options(
    train,
    data={"short": "-d", "metavar": "FOLDER"},
    out={"short": "-o", "metavar": "FOLDER"},
    changes={"metavar": "NAME=VALUE"},
    seed={},
    begin_from={"metavar": "MODEL"},
    extend_vocab={"metavar": "WORDS", "min": 0},
    overwrite={},
)
@options.argument_options(train, panel="Running", device={}, threads={})
def command(
    preset: Annotated[
        str | None,
        typer.Argument(metavar="PRESET", help="Preset or .toml run file; optional with --from."),
    ] = None,
    **arguments: Any,
) -> None:
    """Train a network on a prepared corpus, and write its best weights to a model folder.

    The same command resumes an interrupted run; with more train.epochs it continues a finished
    run. Under torchrun, several processes or machines train together.
    """
    result = train(preset, console=persistent_console(), **arguments)
    _print_result(result, Path(arguments["out"]))


def _print_result(result: "TrainingResult | None", out: Path) -> None:
    """Print how the training ended; `result` is None if an earlier call had finished the run."""
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
