"""Training curves, read from `metrics.jsonl`."""

import json
from pathlib import Path
from typing import Any

from readagain.errors import ArtifactError
from readagain.training.run_dir import METRICS_FILE

Curves = dict[str, list[tuple[int, float]]]
"""(step, value) points by the name of the logged value, such as "dev_loss"."""


def read_curves(run: Path) -> Curves:
    """Read all logged values of a run; an incomplete last line is ignored.

    Raises:
        ArtifactError: if there is no log, or a line is not a JSON object with a step.
    """
    path = run / METRICS_FILE
    try:
        *lines, _incomplete_line = path.read_bytes().split(b"\n")
    except OSError as error:
        raise ArtifactError(
            f"{run}: no {METRICS_FILE}; this is not a run of 'readagain train'"
        ) from error
    curves: Curves = {}
    for number, line in enumerate(lines, start=1):
        record = _parse_line(line, where=f"{path}:{number}")
        for name, value in record.items():
            if isinstance(value, float):
                curves.setdefault(name, []).append((record["step"], value))
    if not curves:
        raise ArtifactError(f"{path}: nothing has been logged yet")
    return curves


def _parse_line(line: bytes, *, where: str) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ArtifactError(f"{where}: not JSON; was it edited by hand?") from error
    if not isinstance(record, dict) or not isinstance(record.get("step"), int):
        raise ArtifactError(f"{where}: expected a JSON object with an integer 'step'")
    return record
