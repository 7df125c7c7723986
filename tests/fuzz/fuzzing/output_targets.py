"""Targets that write files: with the names in an input, and next to symbolic links."""

import os
import shutil
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from fuzzing import seed_inputs
from fuzzing.messages import checked_errors
from readagain.batch.job import BatchJob, group_inputs
from readagain.batch.job_dir import JobDir
from readagain.batch.locations import find_files, open_directory
from readagain.batch.shard_worker import ShardConfig
from readagain.batch.shards import SplitOptions
from readagain.corpus.prepare import prepare
from readagain.corpus.readers.find import CorpusReadOptions, find_inputs
from readagain.corpus.settings import PrepareSettings
from readagain.corpus.shards import PreparedCorpus
from readagain.formats import texts
from readagain.storage.files import write_output
from readagain.storage.model_manifest import write_model_files
from readagain.storage.output_dir import LocalDir

RUN_IDENTITY = {"corpus fingerprint": "00", "train": {"seed": 1}}


def make_file_name_reader(folder: Path) -> Callable[[bytes], None]:
    """Prepare files whose names are in the input, and split them as a batch job does.

    The names in an input are separated by zero bytes.
    """
    line = seed_inputs.JSONL[0].partition(b"\n")[0] + b"\n"

    def read(data: bytes) -> None:
        directory = Path(tempfile.mkdtemp(dir=folder))
        try:
            paths = []
            for name in data.split(b"\0")[:4]:
                path = directory / os.fsdecode(name.replace(b"/", b"_")[:200] or b"_")
                with suppress(OSError):
                    path.write_bytes(line)
                    paths.append(str(path))
            with checked_errors():
                sources = find_inputs(paths, CorpusReadOptions())
                prepare(sources, directory / "corpus", PrepareSettings())
                PreparedCorpus.open(directory / "corpus")
            with checked_errors():
                _open_job_dir(paths, directory / "headlines")
        finally:
            shutil.rmtree(directory)

    return read


def _open_job_dir(paths: list[str], out: Path) -> None:
    """Open the directory of a batch job and read all its texts, without summarizing them."""
    read_options = texts.TextReadOptions()
    config = ShardConfig(out=str(out), model=str(seed_inputs.MODELS / "toy"))
    job = BatchJob(
        inputs=tuple(group_inputs(find_files(paths), read_options)),
        split=SplitOptions(read=read_options, shard_rows=2, added_fields=config.added_fields),
        config=config,
    )
    with JobDir.open(open_directory(str(out)), job.identity(), overwrite=False) as job_dir:
        assert job_dir.finished_shards() == {}
        for source in job.inputs:
            for shard in job.split_input(source, {}):
                assert len(list(shard.records())) >= 1


LINK_NAMES = (
    ".lock", "headlines.txt.part", "unfinished", "unfinished/plan.json", "unfinished/notes", "bad",
    "resume", "resume/identity.json", "resume/unfinished", "metrics.jsonl", "tensorboard",
    ".writing", "vocab.txt", "model.json", "manifest.json", "part-00000-000000.jsonl",
    "../corpus.unfinished", "../corpus.unfinished/.lock", "../corpus.unfinished/corpus",
    "../corpus.unfinished/chunks",
)  # fmt: skip
"""Names of symbolic links in an output directory, at which commands write files."""


def make_link_reader(folder: Path) -> Callable[[bytes], None]:
    """Write into an output directory that contains symbolic links to files outside.

    These files must not change. Each pair of bytes of an input creates a link: the first byte
    selects its name in `LINK_NAMES`, and the second byte selects the file that it points to.
    """
    from readagain.training.metrics import MetricsLog

    pairs = folder / "pairs.jsonl"
    pairs.write_bytes(seed_inputs.JSONL[0])
    sources = find_inputs([str(pairs)], CorpusReadOptions())

    def read(data: bytes) -> None:
        directory = Path(tempfile.mkdtemp(dir=folder))
        outside, out = directory / "outside", directory / "out"
        (outside / "folder").mkdir(parents=True)
        out.mkdir()
        for path in (outside / "file", outside / "folder" / "plan.json"):
            path.write_bytes(b"unchanged")
        targets = (outside / "file", outside / "folder", outside / "new", out, Path("/dev/null"))
        for name_byte, target_byte in zip(data[:16:2], data[1:16:2], strict=False):
            with suppress(OSError):
                link = out / LINK_NAMES[name_byte % len(LINK_NAMES)]
                link.parent.mkdir(parents=True, exist_ok=True)
                link.symlink_to(targets[target_byte % len(targets)])
        before = _read_tree(outside)
        writers = (
            lambda: _write_headlines(out / "headlines.txt"),
            lambda: _open_job_dir([str(pairs)], out),
            lambda: _write_shard(out, overwrite=bool(data[-1:] > b"\x80")),
            lambda: open_run_dir(out, overwrite=True),
            lambda: MetricsLog(out, checkpoint_bytes=0, checkpoint_step=0).close(),
            lambda: write_model_files(out, {"vocab.txt": lambda path: path.write_bytes(b"new")}),
            lambda: prepare(sources, directory / "corpus", PrepareSettings(), overwrite=True),
        )
        try:
            for write in writers:
                with checked_errors():
                    write()
                assert _read_tree(outside) == before
        finally:
            shutil.rmtree(directory)

    return read


def _read_tree(folder: Path) -> dict[str, bytes | None]:
    """Return the files and folders below a folder, with the content of files."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in folder.rglob("*")
    }


def _write_headlines(path: Path) -> None:
    with write_output(path) as temporary:
        temporary.write_text("a headline")


def _write_shard(out: Path, *, overwrite: bool) -> None:
    identity: dict[str, Any] = {"settings": {}, "inputs": []}
    with JobDir.open(open_directory(str(out)), identity, overwrite=overwrite) as job_dir:
        for name in ("part-00000-000000.jsonl", "bad/part-00000-000000.jsonl"):
            with checked_errors():
                job_dir.directory.write(name, b"{}")
        job_dir.finish([], **identity, joined_files={})


def open_run_dir(out: Path, *, overwrite: bool) -> None:
    """Open and close a run directory."""
    from readagain.training.run_dir import RunDir

    with RunDir.open(LocalDir(out), RUN_IDENTITY, overwrite=overwrite):
        pass
