"""Provenance of a model: version, commit, corpus, seed, machine and time."""

import hashlib
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

_SOURCE_SUFFIXES = (".py", ".toml")


def collect_provenance(
    job: ResolvedJob, processes: DistributedContext, device: torch.device
) -> dict[str, Any]:
    """Return the part of the provenance that is known before the first update."""
    corpus, manifest, model = job.corpus, job.corpus.manifest, job.trained_model
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
        if model is None
        else {
            "name": model.model_dir.path.resolve().name,
            "weights_sha256": model.checksum,
            "provenance": model.model_dir.provenance,
        },
        "rouge_protocol": corpus_protocol(is_tokenized=corpus.is_tokenized),
        "seed": job.run.train.seed,
        "python_version": platform.python_version(),
        "torch_version": torch.__version__,
        "device": describe_device(device),
        "processes": processes.world_size,
    }


def add_state(
    provenance: dict[str, Any], state: TrainingState, *, is_finished: bool
) -> dict[str, Any]:
    """Return the provenance with the step of the best weights, the training time and the date."""
    return {
        **provenance,
        "step": state.step if state.best is None else state.best.step,
        "minutes": round(state.minutes, 2),
        "is_finished": is_finished,
        "date": datetime.now(UTC).date().isoformat(),
    }


def describe_device(device: torch.device) -> str:
    """Return the name of a GPU; for the CPU, a description of the machine."""
    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    return describe_machine()


def package_commit() -> str | None:
    """Return the git commit of the source tree; None for an installed package."""
    package = Path(readagain.__file__)
    git = shutil.which("git")
    if git is None:
        return None
    # An installed package may be inside a repository that does not contain it.
    if _run_git(git, package.parent, "ls-files", "--error-unmatch", package.name) is None:
        return None
    return _run_git(git, package.parent, "rev-parse", "HEAD")


def source_hash(package: Path | None = None) -> str:
    """Return a hash of the source files of a package, by default of readagain.

    It identifies the code of a run if there is no commit, for example on a machine without git.
    """
    package = package or Path(readagain.__file__).parent
    digest = hashlib.sha256()
    for path in sorted(package.rglob("*")):
        if path.suffix in _SOURCE_SUFFIXES:
            content = path.read_bytes()
            header = f"{path.relative_to(package).as_posix()} {len(content)}\n"
            digest.update(header.encode() + content)
    return f"sha256:{digest.hexdigest()}"


def _run_git(git: str, directory: Path, *arguments: str) -> str | None:
    """Return the output of a git command, or None if it fails."""
    result = subprocess.run(
        [git, "-C", str(directory), *arguments], capture_output=True, text=True, check=False
    )
    return result.stdout.strip() if result.returncode == 0 else None
