"""Training curves, read from `metrics.jsonl`."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from readagain.errors import ArtifactError
from readagain.training.run_dir import METRICS_FILE


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


def _record(line: bytes, *, where: str) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ArtifactError(f"{where}: not JSON; was it edited by hand?") from error
    if not isinstance(record, dict) or not isinstance(record.get("step"), int):
        raise ArtifactError(f"{where}: expected a JSON object with an integer 'step'")
    return record
