"""What is kept of a row when its weights are gone: figures, and no line of any corpus.

```
OUT/rows/NAME/RECIPE-seedN.json             settings, scores, those of every item, counts, machine
OUT/summaries/NAME/RECIPE-seedN.jsonl.gz    what it wrote, set by set
```

Summaries copy from texts that may not be published, so they lie apart: `rows/` may be shown to
anybody. Results of several machines come together by copying their folders into one.
"""

import base64
import gzip
import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from readagain.errors import ArtifactError
from readagain.storage.files import atomic_write

FORMAT_VERSION = 1
ROWS_FOLDER, SUMMARIES_FOLDER = "rows", "summaries"
MEASURES = ("rouge-1", "rouge-2", "rouge-l")
_UNITS = 10_000  # item scores are kept as whole hundredths of a per cent

Scores = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class SetResult:
    """The scores of a row on one dev set.

    Args:
        protocol, figure: how it was scored, and which figure that quotes.
        fingerprint: of its texts and references.
        rouge: for each measure value, low and high, from 0 to 1.
        item_scores: (items, 3) of the quoted figure, packed.
        habits: what the summaries are like.
        unknown: counts of reference words outside the vocabulary; see `copied.py`.
        seconds: spent writing the summaries.
    """

    protocol: str
    figure: str
    fingerprint: str
    rouge: dict[str, list[float]]
    item_scores: str
    habits: dict[str, Any]
    unknown: dict[str, dict[str, int]]
    seconds: float

    def items(self) -> Scores:
        """Unpack the (items, 3) scores."""
        return unpack(self.item_scores)


@dataclass(frozen=True, kw_only=True)
class ExperimentResult:
    """Everything later tables need of one trained and scored row.

    Args:
        row, recipe, seed, scale: which one it is.
        run: every setting, resolved; None for a system that is not trained.
        corpus: name, fingerprint and size of what it was trained on.
        parameters: of its network.
        training: minutes, updates, the validation that was kept, the curve.
        machine: device, processor, versions, commit, date.
        seconds: from the first update to the last score.
        sets: scores by the name of the dev set.
        importance: weights by word class, where it reads twice; see `importance.py`.
    """

    row: str
    recipe: str
    seed: int
    scale: str
    run: dict[str, Any] | None
    corpus: dict[str, Any]
    parameters: int
    training: dict[str, Any]
    machine: dict[str, Any]
    seconds: float
    sets: dict[str, SetResult]
    importance: dict[str, Any] | None = None
    format_version: int = field(default=FORMAT_VERSION)


def result_file(out: Path, row: str, recipe: str, seed: int) -> Path:
    """Name the file of a result."""
    return out / ROWS_FOLDER / row / f"{recipe}-seed{seed}.json"


def summaries_file(out: Path, row: str, recipe: str, seed: int) -> Path:
    """Name the file of what a row wrote."""
    return out / SUMMARIES_FOLDER / row / f"{recipe}-seed{seed}.jsonl.gz"


def write_result(
    out: Path, result: ExperimentResult, summaries: Mapping[str, Sequence[str]]
) -> None:
    """Write what a row wrote, then its result, which says that the row is done."""
    which = (result.row, result.recipe, result.seed)
    lines = [
        json.dumps({"set": name, "summary": text}, ensure_ascii=False) + "\n"
        for name, texts in summaries.items()
        for text in texts
    ]
    # No time of day in it, so that equal summaries are equal files.
    _write(summaries_file(out, *which), gzip.compress("".join(lines).encode(), mtime=0))
    text = json.dumps(asdict(result), ensure_ascii=False) + "\n"
    _write(result_file(out, *which), text.encode())


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(path) as aside:
        aside.write_bytes(content)


def read_result(path: Path) -> ExperimentResult:
    """Read the file of a result.

    Raises:
        ArtifactError: when it is damaged, or of another format.
    """
    try:
        content = json.loads(path.read_bytes())
        version = content.get("format_version")
        if version != FORMAT_VERSION:
            raise ArtifactError(
                f"{path}: format {version!r}; this version of readagain reads {FORMAT_VERSION}"
            )
        sets = {name: SetResult(**facts) for name, facts in content.pop("sets").items()}
        return ExperimentResult(**{**content, "sets": sets})
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise ArtifactError(
            f"{path}: not a result of 'readagain reproduce' ({error}); remove it"
        ) from error


def read_results(out: Path) -> list[ExperimentResult]:
    """Read every result under `out`, whichever machines they came from, in order of their paths.

    Raises:
        ArtifactError: when one is damaged, of another format, or under another name than its own,
            as a copy that would count as one more seed.
    """
    results = []
    for path in sorted((out / ROWS_FOLDER).glob("*/*.json")):
        result = read_result(path)
        own = result_file(out, result.row, result.recipe, result.seed)
        if path != own:
            raise ArtifactError(
                f"{path}: holds the result of {own.relative_to(out)}; move it out of {ROWS_FOLDER}/"
            )
        results.append(result)
    return results


def read_summaries(path: Path) -> dict[str, list[str]]:
    """Read what a row wrote, set by set; nothing where the file was left out."""
    summaries: dict[str, list[str]] = {}
    if path.exists():
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            for record in map(json.loads, lines):
                summaries.setdefault(record["set"], []).append(record["summary"])
    return summaries


def pack(scores: Scores) -> str:
    """Write (items, 3) scores from 0 to 1 as a short string."""
    units = np.rint(scores * _UNITS).astype("<u2")
    return base64.b64encode(zlib.compress(units.tobytes(), 9)).decode("ascii")


def unpack(packed: str) -> Scores:
    """Read what `pack` wrote."""
    units = np.frombuffer(zlib.decompress(base64.b64decode(packed)), "<u2")
    scores: Scores = units.reshape(-1, len(MEASURES)) / _UNITS
    return scores
