"""Provenance of a model: version, commit, corpus, seed, machine and time."""

import platform
import shutil
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import torch

import readagain
from readagain.processors import describe_machine
from readagain.rouge.options import corpus_protocol
from readagain.training.job import ResolvedJob
from readagain.training.parallel import DistributedContext
from readagain.training.state import TrainingState


def provenance(
    job: ResolvedJob, processes: DistributedContext, device: torch.device
) -> dict[str, Any]:
    """Return the part of the provenance that is known before the first update."""
    corpus, trained, manifest = job.corpus, job.trained, job.corpus.manifest
    return {
        "package_version": readagain.__version__,
        "commit": package_commit(),
        "corpus": {
            "name": corpus.folder.resolve().name,
            "language": manifest.language,
            "fingerprint": manifest.fingerprint,
            "train_pairs": manifest.splits["train"]["pairs"],
            "dev_pairs": manifest.splits["dev"]["pairs"],
            "sources": sorted({Path(origin).name for origin in manifest.origins}),
        },
        "began_from": None
        if trained is None
        else {
            "name": trained.model_dir.path.resolve().name,
            "weights_sha256": trained.checksum,
            "provenance": trained.model_dir.provenance,
        },
        "rouge_protocol": corpus_protocol(is_tokenized=corpus.is_tokenized),
        "seed": job.run.train.seed,
        "python_version": platform.python_version(),
        "torch_version": torch.__version__,
        "device": device_name(device),
        "processes": processes.world_size,
    }


def add_state(
    provenance: dict[str, Any], state: TrainingState, *, is_finished: bool
) -> dict[str, Any]:
    """Return provenance with the step of the weights, the training time and the date."""
    return {
        **provenance,
        "step": state.step if state.best is None else state.best.step,
        "minutes": round(state.minutes, 2),
        "is_finished": is_finished,
        "date": datetime.now(UTC).date().isoformat(),
    }


def device_name(device: torch.device) -> str:
    """Return the name of the GPU or of the machine."""
    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    return describe_machine()


def package_commit() -> str | None:
    """Return the git commit of the source tree; None for an installed package."""
    package = Path(readagain.__file__)
    git = shutil.which("git")
    if git is None:
        return None
    tracked = _git(git, package.parent, "ls-files", "--error-unmatch", package.name)
    return None if tracked is None else _git(git, package.parent, "rev-parse", "HEAD")


def _git(git: str, directory: Path, *arguments: str) -> str | None:
    result = subprocess.run(
        [git, "-C", str(directory), *arguments], capture_output=True, text=True, check=False
    )
    return result.stdout.strip() if result.returncode == 0 else None
