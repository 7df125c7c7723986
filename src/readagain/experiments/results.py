"""Result files: settings and scores of an experiment, without any text of a corpus.

```
OUT/rows/NAME/RECIPE-seedN.json             settings, scores, scores of every text, counts, machine
OUT/summaries/NAME/RECIPE-seedN.jsonl.gz    the summaries, data set by data set
```

Summaries copy from texts that may not be published, so they are separate files; `rows/` can be
published. To combine the results of several machines, copy their directories into one.
"""

import base64
import gzip
import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from readagain.errors import ArtifactError
from readagain.experiments.catalog import run_name
from readagain.storage.files import atomic_write

FORMAT_VERSION = 1
ROWS_DIR = "rows"
TIMING_FILE = "timing.json"
BATCH_SIZES = (1, 16)
"""Batch sizes with which decoding time is measured."""
MEASURES = ("rouge-1", "rouge-2", "rouge-l")
_SCORE_UNITS = 10_000  # scores of texts are stored in hundredths of a percent

Scores = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class DatasetResult:
    """Scores of an experiment on one data set. The field names are the keys of the file.

    Args:
        protocol, figure: ROUGE protocol, and the statistic (recall or f1) that it reports.
        fingerprint: SHA-256 of the texts and references.
        rouge: value, low and high of each measure, from 0 to 1.
        item_scores: packed (I, 3) scores of every text.
        habits: statistics of the summaries, such as their mean length (`SummaryStats`).
        unknown: counts of out-of-vocabulary words; see `copying.py`.
        seconds: time to generate the summaries.
        own: results with the decoding of the system's own paper; None if it is the decoding that
            all experiments use. Keys: the settings `decode` and `allow_unk`, `rouge`,
            `item_scores`, the mean number of `words`, and the number of `summaries_with_unk`.
    """

    protocol: str
    figure: str
    fingerprint: str
    rouge: dict[str, list[float]]
    item_scores: str
    habits: dict[str, Any]
    unknown: dict[str, dict[str, int]]
    seconds: float
    own: dict[str, Any] | None = None

    def items(self, *, is_own: bool = False) -> Scores:
        """Return the (I, 3) scores of the texts; with `is_own`, those of `own` if there are any."""
        packed = self.own["item_scores"] if is_own and self.own is not None else self.item_scores
        return unpack_scores(packed)


@dataclass(frozen=True, kw_only=True)
class ExperimentResult:
    """Result of one experiment with one recipe and seed. The field names are the keys of the file.

    Args:
        row: name of the experiment.
        run: all settings of the run; None for a baseline.
        corpus: name, fingerprint and size of the training corpus.
        training: minutes, updates, what ended it (patience, all epochs or the time limit), the
            selected checkpoint, the learning curve.
        machine: device, processor, versions, commit, date.
        seconds: time of training and scoring.
        sets: results by name of the data set; the first is the dev split of the corpus.
        importance: weights by word class, for networks with a second reading pass; see
            `importance.py`.
        examples: summaries of the paper's printed inputs; see `paper_examples.py`.
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
    sets: dict[str, DatasetResult]
    importance: dict[str, Any] | None = None
    examples: list[dict[str, Any]] | None = None
    format_version: int = FORMAT_VERSION

    @property
    def run_name(self) -> str:
        """Experiment, recipe and seed, for example gru_15k/modern-seed1."""
        return run_name(self.row, self.recipe, self.seed)


def result_file(out: Path, run_name: str) -> Path:
    """Return the path of the result with a certain `ExperimentResult.run_name`."""
    return out / ROWS_DIR / f"{run_name}.json"


def write_result(
    out: Path, result: ExperimentResult, summaries: Mapping[str, Sequence[str]]
) -> None:
    """Write the summaries, then the result, which marks the run as done."""
    lines = [
        json.dumps({"set": name, "summary": text}, ensure_ascii=False) + "\n"
        for name, texts in summaries.items()
        for text in texts
    ]
    # No modification time, so that equal summaries give equal files.
    compressed = gzip.compress("".join(lines).encode(), mtime=0)
    content = json.dumps(asdict(result), ensure_ascii=False) + "\n"
    for path, data in (
        (out / "summaries" / f"{result.run_name}.jsonl.gz", compressed),
        (result_file(out, result.run_name), content.encode()),
    ):
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_write(path) as temporary:
            temporary.write_bytes(data)


def read_result(path: Path) -> ExperimentResult:
    """Read a result.

    Raises:
        ArtifactError: if the file is damaged or has another format version.
    """
    try:
        content = json.loads(path.read_bytes())
        version = content.get("format_version")
        if version != FORMAT_VERSION:
            raise ArtifactError(
                f"{path}: format {version!r}; this version of readagain reads {FORMAT_VERSION}"
            )
        sets = {name: DatasetResult(**each) for name, each in content.pop("sets").items()}
        return ExperimentResult(**content, sets=sets)
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise ArtifactError(
            f"{path}: not a result of 'readagain reproduce' ({error}); remove it"
        ) from error


def read_results(out: Path) -> list[ExperimentResult]:
    """Read every result under `out`, in the order of the paths.

    Raises:
        ArtifactError: if a file is damaged, has another format version, or is not at the path
            `result_file`: a copy under another name would count as one more seed.
    """
    results = []
    for path in sorted((out / ROWS_DIR).glob("*/*.json")):
        result = read_result(path)
        expected = result_file(out, result.run_name)
        if path != expected:
            raise ArtifactError(
                f"{path}: contains the result {expected.relative_to(out)}; move it out of "
                f"{ROWS_DIR}/"
            )
        results.append(result)
    return results


def read_timing(out: Path) -> dict[str, Any] | None:
    """Read the decoding times of Table 4; None if they were not measured.

    Raises:
        ArtifactError: if the file is damaged.
    """
    path = out / TIMING_FILE
    if not path.exists():
        return None
    try:
        timing: dict[str, Any] = json.loads(path.read_bytes())
        timing["measured"][0]["ms_per_text"]
    except (ValueError, KeyError, IndexError, TypeError) as error:
        raise ArtifactError(f"{path}: damaged ({error!r}); remove it and measure again") from error
    return timing


def milliseconds(
    timing: Mapping[str, Any], row: str, precision: str, batch_size: int
) -> dict[str, float]:
    """Return the milliseconds per text of one system by vocabulary size."""
    return {
        each["size"]: each["ms_per_text"][str(batch_size)]
        for each in timing["measured"]
        if (each["row"], each["precision"]) == (row, precision)
    }


def pack_scores(scores: Scores) -> str:
    """Encode (I, 3) scores from 0 to 1 as a short string."""
    units = np.rint(scores * _SCORE_UNITS).astype("<u2")
    return base64.b64encode(zlib.compress(units.tobytes(), 9)).decode("ascii")


def unpack_scores(packed: str) -> Scores:
    """Decode the string of `pack_scores`."""
    units = np.frombuffer(zlib.decompress(base64.b64decode(packed)), "<u2")
    scores: Scores = units.reshape(-1, len(MEASURES)) / _SCORE_UNITS
    return scores
