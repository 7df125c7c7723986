"""Result files of experiments.

```
OUT/rows/NAME/RECIPE-seedN.json             settings, scores, scores of every text, counts, machine
OUT/summaries/NAME/RECIPE-seedN.jsonl.gz    the summaries, data set by data set
```

The files in `rows/` have no text of a corpus, so they can be published. Summaries copy words of
texts that may not be published, so they are in separate files. To combine the results of several
machines, copy their directories into one.
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

from readagain.errors import ArtifactError
from readagain.experiments.catalog import run_name
from readagain.rouge.options import MEASURES
from readagain.rouge.scores import Numbers
from readagain.storage.output_dir import LocalDir

FORMAT_VERSION = 1
ROWS_DIR = "rows"
TIMING_FILE = "timing.json"
BATCH_SIZES = (1, 16)
"""Batch sizes with which decoding time is measured."""
_UNITS_PER_SCORE = 10_000
"""The scores of texts are stored as integers, in hundredths of a percent."""


@dataclass(frozen=True, kw_only=True)
class DatasetResult:
    """Scores of an experiment on one data set. The field names are the keys of the file.

    Args:
        protocol: name of the ROUGE protocol.
        figure: kind of score that the protocol reports: recall or f1.
        fingerprint: SHA-256 of the texts and references.
        rouge: score of each measure and the ends of its interval, from 0 to 1.
        item_scores: (I, 3) scores of I texts, packed by `pack_scores`.
        habits: statistics of the summaries, such as their mean length (`SummaryStats`).
        unknown: counts of out-of-vocabulary words, see `copying.count_oov`, for the vocabulary
            that all experiments share (key "common").
        seconds: time to generate the summaries.
        own: results with the decoding settings of the system's own paper; None if these are the
            settings that all experiments use. Keys: the settings `decode` and `allow_unk`,
            `rouge`, `item_scores`, the mean number of `words`, and the number of
            `summaries_with_unk`.
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

    def text_scores(self, *, use_own_decoding: bool = False) -> Numbers:
        """Return the (I, 3) scores of the texts.

        With `use_own_decoding`, return those with the decoding settings of the system's own paper.
        """
        if use_own_decoding and self.own is not None:
            return unpack_scores(self.own["item_scores"])
        return unpack_scores(self.item_scores)


@dataclass(frozen=True, kw_only=True)
class ExperimentResult:
    """Result of one experiment with one recipe and seed. The field names are the keys of the file.

    Args:
        row: name of the experiment.
        scale: sizes of the networks: paper or small.
        run: all settings of the run; None for a baseline.
        corpus: name, fingerprint and size of the training corpus.
        parameters: number of parameters; 0 for a baseline.
        training: minutes; updates; the reason why the training ended (patience, epochs or time
            limit); the selected checkpoint; the `curve` of the loss on the split that selects the
            checkpoint, as pairs of epoch and `dev_loss`. Empty for a baseline.
        machine: device, processor, versions, date, and the commit, or without git a hash of the
            source files.
        seconds: time of training and scoring.
        sets: results by name of the data set; the first is the dev split of the corpus.
        importance: result of `importance.measure_importance`.
        examples: result of `paper_examples.run_paper_examples`; None for a baseline.
    """

    row: str
    recipe: str
    seed: int
    scale: str
    run: dict[str, Any] | None = None
    corpus: dict[str, Any]
    parameters: int = 0
    training: dict[str, Any] = field(default_factory=dict)
    machine: dict[str, Any]
    seconds: float
    sets: dict[str, DatasetResult]
    importance: dict[str, Any] | None = None
    examples: list[dict[str, Any]] | None = None
    format_version: int = FORMAT_VERSION

    @property
    def can_copy(self) -> bool:
        """Whether the system is a network that copies words of the text."""
        model = (self.run or {}).get("model", {})
        return bool(model.get("output") == "copy")

    @property
    def run_name(self) -> str:
        """Experiment, recipe and seed, for example gru_15k/modern-seed1."""
        return run_name(self.row, self.recipe, self.seed)


def result_file(out: Path, run_name: str) -> Path:
    """Return the path of the result of a run; see `ExperimentResult.run_name`."""
    return out / ROWS_DIR / f"{run_name}.json"


def write_result(
    out: Path, result: ExperimentResult, summaries: Mapping[str, Sequence[str]]
) -> None:
    """Write the summaries, then the result.

    The result is written last, because a run counts as done if its result exists.
    """
    lines = [
        json.dumps({"set": name, "summary": text}, ensure_ascii=False) + "\n"
        for name, texts in summaries.items()
        for text in texts
    ]
    # Without a modification time, equal summaries give equal files.
    compressed = gzip.compress("".join(lines).encode(), mtime=0)
    content = json.dumps(asdict(result), ensure_ascii=False) + "\n"
    directory = LocalDir(out)
    directory.write(f"summaries/{result.run_name}.jsonl.gz", compressed)
    directory.write(f"{ROWS_DIR}/{result.run_name}.json", content.encode())


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
        sets = {name: DatasetResult(**fields) for name, fields in content.pop("sets").items()}
        return ExperimentResult(**content, sets=sets)
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise ArtifactError(
            f"{path}: not a result of 'readagain reproduce' ({error}); remove it"
        ) from error


def read_results(out: Path) -> list[ExperimentResult]:
    """Read every result under `out`, in the order of the paths.

    Raises:
        ArtifactError: if a file is damaged, has another format version, or is not named as
            `result_file` names it: a renamed copy would count as one more seed.
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
    """Return the milliseconds per text of one system, by size of the decoder vocabulary."""
    return {
        measurement["size"]: measurement["ms_per_text"][str(batch_size)]
        for measurement in timing["measured"]
        if (measurement["row"], measurement["precision"]) == (row, precision)
    }


def pack_scores(scores: Numbers) -> str:
    """Encode (I, 3) scores from 0 to 1 as a short string."""
    units = np.rint(scores * _UNITS_PER_SCORE).astype("<u2")
    return base64.b64encode(zlib.compress(units.tobytes(), 9)).decode("ascii")


def unpack_scores(packed: str) -> Numbers:
    """Decode a string that `pack_scores` returned."""
    units = np.frombuffer(zlib.decompress(base64.b64decode(packed)), "<u2")
    scores: Numbers = units.reshape(-1, len(MEASURES)) / _UNITS_PER_SCORE  # (I, 3)
    return scores
