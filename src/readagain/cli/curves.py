"""`readagain curves`: plot training curves."""

from pathlib import Path
from typing import Annotated

import typer


def command(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN", help="Run folders.")],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="PNG", help="Image to write.")] = Path(
        "curves.png"
    ),
) -> None:
    """Plot loss, learning rate and ROUGE over the updates of each run."""
    from readagain.training.curves import plot_curves, read_curves

    plot_curves([read_curves(run) for run in runs], out)
    print(f"{out}: written")
