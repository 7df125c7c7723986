"""Write the model folder of a run from the weights it keeps."""

import json
import shutil
from dataclasses import asdict
from pathlib import Path
from typing import Any

from readagain.config.files import save_run
from readagain.config.schema import RunSpec
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
from readagain.text.truecasing import CASES_FILE, Truecaser
from readagain.training.card import model_card
from readagain.training.progress import Scores
from readagain.training.words import Vocabs


def publish_model(
    folder: Path,
    *,
    run: RunSpec,
    words: Vocabs,
    cases: Truecaser,
    weights_file: Path,
    provenance: dict[str, Any],
    scores: Scores | None,
) -> None:
    """Make `folder` a model folder with these weights; graphs of other weights leave it.

    Raises:
        ArtifactError: when the disk is full or fails; the folder is then as it was.
    """
    card = model_card(run, provenance, scores)
    figures = {} if scores is None else {"dev": asdict(scores)}
    write_model_files(
        folder,
        {
            RUN_FILE: lambda path: save_run(run, path),
            SOURCE_VOCAB_FILE: words.source.save,
            VOCAB_FILE: words.summary.save,
            **({CASES_FILE: cases.save} if cases else {}),
            WEIGHTS_FILE: lambda path: shutil.copyfile(weights_file, path),
            PROVENANCE_FILE: lambda path: _write_json(path, provenance),
            SCORES_FILE: lambda path: _write_json(path, figures),
            CARD_FILE: lambda path: path.write_text(card, encoding="utf-8"),
        },
        replace_all=True,
    )


def _write_json(path: Path, content: dict[str, Any]) -> None:
    path.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
