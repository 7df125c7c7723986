"""Shards done on a Ray cluster, through Ray Data: the same shards, the same bytes."""

import logging
import os
import pickle  # nosec B403
import platform
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any
from uuid import uuid4

from readagain.batch.files import is_remote
from readagain.batch.folder import open_folder
from readagain.batch.job import BatchJob, Done
from readagain.batch.local import give_up
from readagain.batch.notes import TRIES, ShardMetadata
from readagain.batch.run import Engine
from readagain.batch.shards import BatchShard
from readagain.batch.work import ShardConfig, ShardWorker
from readagain.errors import DataError, ReadAgainError, first_line, require
from readagain.storage.bundled import bundled_models, find_model
from readagain.storage.model_manifest import MANIFEST_FILE, read_manifest
from readagain.worker_pool import MAX_CRASHES

WORKERS_PER_READER = 8
"""A reader cuts far faster than a worker summarizes; several only help with many workers."""

Batch = dict[str, Any]


@dataclass(frozen=True)
class _SetAside:
    """A shard that killed its worker each time it was tried."""

    name: str


def ray_engine(*, address: str | None, num_workers: int) -> Engine:
    """Return the engine of a Ray cluster; 0 workers stands for all of its processors.

    Args:
        address: of the cluster; None for the one that Ray finds, or starts here.
        num_workers: actors, each with an engine.
    """
    ray = require("ray", extra="ray", purpose="--engine ray")
    require("ray.data", extra="ray", purpose="--engine ray")

    def run(job: BatchJob, done: Done) -> Iterator[ShardMetadata]:
        with _connected(ray, address):
            try:
                yield from _run(ray, job, done, num_workers)
            except ray.exceptions.RayError as error:
                reason = (str(error).strip().splitlines() or [repr(error)])[-1]
                raise DataError(
                    f"{job.work.out}: Ray gave up: {reason}; what is done is kept, and the same "
                    "command goes on"
                ) from error

    return run


def _run(ray: ModuleType, job: BatchJob, done: Done, num_workers: int) -> Iterator[ShardMetadata]:
    """Let readers cut the sources, and actors do the shards as fast as they can take them.

    What travels is pickled, as everything in Ray is: our own objects, between our own processes.

    Raises:
        DataError: in the end, naming shards that killed their worker each time.
        ReadAgainError: as a reader or a worker raised it.
    """
    processors = int(ray.cluster_resources().get("CPU", 1))
    size = num_workers or max(1, processors // job.work.threads)
    notes: dict[int, dict[tuple[int, int], ShardMetadata]] = {}
    for key, note in done.items():
        notes.setdefault(note.source, {})[key] = note
    sources = [
        {"source": pickle.dumps((source, notes.get(source.number, {})))} for source in job.sources
    ]
    dataset = ray.data.from_items(sources, override_num_blocks=len(sources))
    context = dataset.context
    # Blocks are what Ray Data hands out: one shard each, however small.
    context.target_max_block_size = context.target_min_block_size = 1
    context.enable_progress_bars = False
    home = _home(job)
    answers = dataset.map_batches(
        _Reader(replace(job, sources=()), home),
        batch_size=1,
        num_cpus=0,
        compute=ray.data.TaskPoolStrategy(size=1 + size // WORKERS_PER_READER),
    ).map_batches(
        ShardActor,
        fn_constructor_args=(job.work, _model_files(job.work.model), home),
        batch_size=1,
        num_cpus=job.work.threads,
        compute=ray.data.ActorPoolStrategy(size=size),
    )
    set_aside: list[_SetAside] = []
    for row in answers.iter_rows():
        answer = pickle.loads(row["item"])  # nosec B301
        if isinstance(answer, ReadAgainError):
            raise answer
        if isinstance(answer, _SetAside):
            set_aside.append(answer)
        else:
            yield answer
    if set_aside:
        raise DataError(give_up([answer.name for answer in set_aside]))


class _Reader:
    """Cuts a source, in a task of Ray's."""

    def __init__(self, job: BatchJob, home: Path | None) -> None:
        self._job = job
        self._home = home

    def __call__(self, batch: Batch) -> Iterator[Batch]:
        for packed in batch["source"]:
            source, done = pickle.loads(packed)  # nosec B301
            try:
                _enter(self._home)
                for item in self._job.outline(source, done):
                    name = item.name if isinstance(item, BatchShard) else ""
                    yield {"name": [name], "item": [pickle.dumps(item)]}
            except ReadAgainError as error:
                yield {"name": [""], "item": [pickle.dumps(error)]}


class ShardActor:
    """Does shards, in an actor of Ray's; hands on what is none."""

    def __init__(
        self, work: ShardConfig, model_files: Mapping[str, bytes], home: Path | None
    ) -> None:
        self._home = home
        self._folder = open_folder(work.out)
        with TemporaryDirectory(prefix="readagain-") as folder:
            for name, content in model_files.items():
                (Path(folder) / name).write_bytes(content)
            self._worker = ShardWorker(replace(work, model=folder) if model_files else work)

    def __call__(self, batch: Batch) -> Batch:
        """Summarize the shards of a batch."""
        pairs = zip(batch["name"], batch["item"], strict=True)
        return {"item": [self._done(str(name), item) if name else item for name, item in pairs]}

    def _done(self, name: str, packed: bytes) -> bytes:
        """Do a shard. Ray tries it again for ever when the actor dies, so tries are counted."""
        tries = f"{TRIES}/{name}"
        try:
            _enter(self._home)
            if len(self._folder.names(tries)) >= MAX_CRASHES:
                return pickle.dumps(_SetAside(name))
            self._folder.write(f"{tries}/{uuid4().hex}", b"")
            note = self._worker.do(pickle.loads(packed))  # nosec B301
            self._folder.remove(tries)
        except ReadAgainError as error:
            return pickle.dumps(error)
        return pickle.dumps(note)


def _home(job: BatchJob) -> Path | None:
    """Return where paths of the job begin, if some of them do not say so themselves."""
    files = (file.location for source in job.sources for file in source.files)
    paths = (location for location in (job.work.out, *files) if not is_remote(location))
    return None if all(Path(path).is_absolute() for path in paths) else Path.cwd()


def _enter(home: Path | None) -> None:
    """Go where the job's paths begin; Ray starts its processes somewhere else.

    Raises:
        DataError: on a node that has no such folder.
    """
    if home is not None:
        try:
            os.chdir(home)
        except OSError as error:
            raise DataError(
                f"{home}: not there on the node {platform.node()}; every node of the cluster must "
                "see the same files, so name a shared folder or an address such as s3://…"
            ) from error


def _model_files(model: str) -> dict[str, bytes]:
    """Read a model that other machines may not have; a bundled one they have."""
    if model in bundled_models():
        return {}
    folder = find_model(model)
    names = (MANIFEST_FILE, *read_manifest(folder).files)
    return {name: (folder / name).read_bytes() for name in names}


@contextmanager
def _connected(ray: ModuleType, address: str | None) -> Iterator[None]:
    """Join the cluster, unless this process has; leave it again."""
    if ray.is_initialized():
        yield
        return
    logging.getLogger("ray.data").setLevel(logging.WARNING)
    logging.getLogger("ray.data._internal.progress").setLevel(logging.ERROR)  # we show our own
    try:
        ray.init(address=address, log_to_driver=False, logging_level=logging.WARNING)
    except (ConnectionError, ValueError) as error:
        reason = first_line(error)
        raise DataError(f"--address {address}: no Ray cluster can be reached: {reason}") from error
    try:
        yield
    finally:
        ray.shutdown()
