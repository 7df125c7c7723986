"""Training curves, read from `metrics.jsonl` and plotted."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from readagain.errors import ArtifactError, ConfigError, require
from readagain.storage.files import write_output
from readagain.training.run_dir import METRICS_FILE

_PANELS = {
    "training loss": "loss",
    "dev loss": "dev_loss",
    "dev ROUGE-1 F1": "rouge_1",
    "learning rate": "learning_rate",
}
_FORMATS = (".png", ".svg", ".pdf")


@dataclass(frozen=True)
class Curves:
    """Logged values of a run with their steps."""

    name: str
    points: dict[str, list[tuple[int, float]]]


def read_curves(run: Path) -> Curves:
    """Read the log of a run; an incomplete last line is ignored.

    Raises:
        ArtifactError: if there is no log, or a line is not a JSON object with a step.
    """
    path = run / METRICS_FILE
    try:
        *lines, _unfinished = path.read_bytes().split(b"\n")
    except OSError as error:
        raise ArtifactError(
            f"{run}: no {METRICS_FILE}; this is not a run of 'readagain train'"
        ) from error
    points: dict[str, list[tuple[int, float]]] = {}
    for number, line in enumerate(lines, start=1):
        record = _record(line, where=f"{path}:{number}")
        for name, value in record.items():
            if isinstance(value, float):
                points.setdefault(name, []).append((record["step"], value))
    if not points:
        raise ArtifactError(f"{path}: nothing has been logged yet")
    return Curves(run.resolve().name, points)


def plot_curves(runs: Sequence[Curves], out: Path) -> None:
    """Plot all runs into one figure with a panel for each metric.

    Raises:
        ConfigError: for an unsupported file format.
        DataError: if the file cannot be written.
        MissingExtraError: if matplotlib is not installed.
    """
    if out.suffix.lower() not in _FORMATS:
        raise ConfigError(f"{out}: expected a file name that ends in {', '.join(_FORMATS)}")
    figures = require("matplotlib.figure", extra="plot", purpose="plotting curves")
    figure = figures.Figure(figsize=(10, 7), layout="constrained")
    for axes, (title, name) in zip(figure.subplots(2, 2).flat, _PANELS.items(), strict=True):
        for run in runs:
            points = run.points.get(name, [])
            steps, values = [step for step, _ in points], [value for _, value in points]
            axes.plot(steps, values, label=run.name, marker="." if len(points) < 30 else "")
        axes.set_title(title)
        axes.set_xlabel("update")
        axes.grid(alpha=0.3)
    figure.axes[0].legend()
    with write_output(out) as path:
        figure.savefig(path, format=out.suffix.lower().removeprefix("."), dpi=120)


def _record(line: bytes, *, where: str) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ArtifactError(f"{where}: not JSON; was it edited by hand?") from error
    if not isinstance(record, dict) or not isinstance(record.get("step"), int):
        raise ArtifactError(f"{where}: expected a JSON object with an integer 'step'")
    return record
