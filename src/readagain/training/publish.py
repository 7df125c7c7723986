"""Model folder of a run, with its best weights."""

import json
import shutil
from dataclasses import asdict
from pathlib import Path
from typing import Any

from readagain.config.files import save_run
from readagain.model_dir import (
    CARD_FILE,
    PROVENANCE_FILE,
    RUN_FILE,
    SCORES_FILE,
    SOURCE_VOCAB_FILE,
    VOCAB_FILE,
    WEIGHTS_FILE,
)
from readagain.storage.model_manifest import write_model_files
from readagain.text.truecasing import CASES_FILE
from readagain.training.checkpoint import latest_checkpoint
from readagain.training.job import ResolvedJob
from readagain.training.model_card import model_card
from readagain.training.run_dir import RunDir
from readagain.training.state import Scores


def publish_model(
    run_dir: RunDir, job: ResolvedJob, *, provenance: dict[str, Any], scores: Scores | None
) -> None:
    """Write a model folder with the best weights of the latest checkpoint.

    Graphs that were exported from other weights are removed.

    Raises:
        ArtifactError: if the disk is full or fails; the folder is then unchanged.
    """
    checkpoint = latest_checkpoint(run_dir.checkpoints, checksums=False)
    assert checkpoint is not None
    assert checkpoint.best_file is not None
    weights_file = checkpoint.best_file
    card = model_card(job.run, provenance, scores)
    score_table = {} if scores is None else {"dev": asdict(scores)}
    write_model_files(
        run_dir.path,
        {
            RUN_FILE: lambda path: save_run(job.run, path),
            SOURCE_VOCAB_FILE: job.vocabs.source.save,
            VOCAB_FILE: job.vocabs.summary.save,
            **({CASES_FILE: job.truecaser.save} if job.truecaser else {}),
            WEIGHTS_FILE: lambda path: shutil.copyfile(weights_file, path),
            PROVENANCE_FILE: lambda path: _write_json(path, provenance),
            SCORES_FILE: lambda path: _write_json(path, score_table),
            CARD_FILE: lambda path: path.write_text(card, encoding="utf-8"),
        },
        replace_all=True,
    )


def _write_json(path: Path, content: dict[str, Any]) -> None:
    path.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
