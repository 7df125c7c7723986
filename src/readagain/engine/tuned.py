"""A copy of a model folder that searches with other settings."""

import json
import shutil
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from readagain.config.files import save_run
from readagain.config.override import override
from readagain.engine.folder import PROVENANCE_FILE, RUN_FILE, ModelDir
from readagain.engine.manifest import write_files
from readagain.errors import ArtifactError


def check_free(out: Path) -> None:
    """Notice before any work that a folder is taken.

    Raises:
        ArtifactError: when there is something in it.
    """
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise ArtifactError(f"{out}: is there already; name a folder that is not")


def write_tuned(
    folder: ModelDir, out: Path, decode: Mapping[str, float], origin: Mapping[str, Any]
) -> None:
    """Copy a model, give the copy other settings of `decode`, and note where they come from.

    Raises:
        ArtifactError: when the folder is taken or cannot be written.
    """
    check_free(out)
    run = override(folder.run, {f"decode.{name}": value for name, value in decode.items()})
    provenance = json.dumps({**folder.provenance, "tuned": dict(origin)}, indent=2) + "\n"
    writers: dict[str, Callable[[Path], object]] = {
        name: partial(shutil.copyfile, folder.path / name) for name in folder.manifest.files
    }
    writers[RUN_FILE] = partial(save_run, run)
    writers[PROVENANCE_FILE] = lambda path: path.write_text(provenance, encoding="utf-8")
    write_files(out, writers, whole=True)
