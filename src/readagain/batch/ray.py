"""Batch engine on a Ray cluster, with Ray Data; its output equals that of the local engine."""

import logging
import os
import pickle  # nosec B403
import platform
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any
from uuid import uuid4

from readagain.batch.job import BatchJob
from readagain.batch.job_dir import ATTEMPTS_DIR, FinishedShards, ShardMetadata
from readagain.batch.locations import is_remote, open_directory
from readagain.batch.run import Engine, raise_for_failed
from readagain.batch.shard_worker import ShardConfig, ShardWorker
from readagain.batch.shards import BatchShard
from readagain.errors import ArgumentError, DataError, ReadAgainError, first_line, require
from readagain.storage.bundled import bundled_models, find_model
from readagain.storage.model_manifest import MANIFEST_FILE, read_manifest
from readagain.worker_pool import MAX_CRASHES, TaskFailure

WORKERS_PER_READER = 8
"""Number of actors that summarize shards for each task that reads inputs, which is much faster."""

RayBatch = dict[str, Any]
"""Batch of Ray Data: the values of each column."""


def ray_engine(*, address: str | None, num_workers: int) -> Engine:
    """Return the engine of a Ray cluster; 0 workers means one per processor.

    If `address` is None, Ray finds a cluster or starts one on this machine.
    """
    ray = require("ray", extra="ray", purpose="the engine 'ray'")
    require("ray.data", extra="ray", purpose="the engine 'ray'")

    def run(job: BatchJob, finished: FinishedShards) -> Iterator[ShardMetadata]:
        with _connection(ray, address):
            try:
                yield from _run(ray, job, finished, num_workers)
            except ray.exceptions.RayError as error:
                reason = (str(error).strip().splitlines() or [repr(error)])[-1]
                raise DataError(
                    f"{job.config.out}: Ray failed: {reason}; run the same command again to resume"
                ) from error

    return run


def _run(
    ray: ModuleType, job: BatchJob, finished: FinishedShards, num_workers: int
) -> Iterator[ShardMetadata]:
    """Split the inputs into shards in Ray tasks, and summarize the shards in Ray actors.

    Tasks and actors exchange pickled items: shards, metadata of finished shards, and errors. Only
    processes of this package create them, so unpickling is safe.

    Raises:
        DataError: at the end, if a shard killed its actor in every attempt.
        ReadAgainError: if a task or an actor raised it.
    """
    num_processors = int(ray.cluster_resources().get("CPU", 1))
    num_actors = num_workers or max(1, num_processors // job.config.threads)
    finished_by_input: dict[int, dict[tuple[int, int], ShardMetadata]] = {}
    for key, shard in finished.items():
        finished_by_input.setdefault(shard.source, {})[key] = shard
    sources = [
        {"source": pickle.dumps((source, finished_by_input.get(source.number, {})))}
        for source in job.inputs
    ]
    dataset = ray.data.from_items(sources, override_num_blocks=len(sources))
    context = dataset.context
    # One shard per block of Ray Data, even if the shard is small.
    context.target_max_block_size = context.target_min_block_size = 1
    context.enable_progress_bars = False
    working_dir = _working_dir(job)
    results = dataset.map_batches(
        _split_inputs,
        fn_args=(replace(job, inputs=()), working_dir),
        batch_size=1,
        num_cpus=0,
        compute=ray.data.TaskPoolStrategy(size=1 + num_actors // WORKERS_PER_READER),
    ).map_batches(
        ShardActor,
        fn_constructor_args=(job.config, _model_files(job.config.model), working_dir),
        batch_size=1,
        num_cpus=job.config.threads,
        compute=ray.data.ActorPoolStrategy(size=num_actors),
    )
    failed_shards: list[str] = []
    for row in results.iter_rows():
        result = pickle.loads(row["item"])  # nosec B301
        if isinstance(result, ReadAgainError):
            raise result
        if isinstance(result, TaskFailure):
            failed_shards.append(result.task)
        else:
            yield result
    raise_for_failed(failed_shards)


def _split_inputs(batch: RayBatch, job: BatchJob, working_dir: Path | None) -> Iterator[RayBatch]:
    """Split inputs into shards, in a Ray task; items other than shards get no name."""
    for packed in batch["source"]:
        source, finished = pickle.loads(packed)  # nosec B301
        try:
            _change_dir(working_dir)
            for item in job.split_input(source, finished):
                name = item.name if isinstance(item, BatchShard) else ""
                yield {"name": [name], "item": [pickle.dumps(item)]}
        except ReadAgainError as error:
            yield {"name": [""], "item": [pickle.dumps(error)]}


class ShardActor:
    """Ray actor that summarizes shards and returns other items, which have no name, unchanged.

    `model_files` are the files of a model that the node may lack; empty for a bundled model.
    """

    def __init__(
        self, config: ShardConfig, model_files: Mapping[str, bytes], working_dir: Path | None
    ) -> None:
        self._working_dir = working_dir
        self._directory = open_directory(config.out)
        with TemporaryDirectory(prefix="readagain-") as directory:
            for name, content in model_files.items():
                (Path(directory) / name).write_bytes(content)
            self._worker = ShardWorker(replace(config, model=directory) if model_files else config)

    def __call__(self, batch: RayBatch) -> RayBatch:
        """Summarize the shards of a batch."""
        pairs = zip(batch["name"], batch["item"], strict=True)
        return {"item": [self._run(str(name), item) if name else item for name, item in pairs]}

    def _run(self, name: str, packed: bytes) -> bytes:
        """Summarize a shard, or give up after `MAX_CRASHES` attempts.

        Each attempt writes a file, which is removed if the attempt succeeds. The files are counted,
        since Ray repeats a task whose actor died without a limit.
        """
        attempts = f"{ATTEMPTS_DIR}/{name}"
        try:
            _change_dir(self._working_dir)
            if len(self._directory.names(attempts)) >= MAX_CRASHES:
                return pickle.dumps(TaskFailure(name))
            self._directory.write(f"{attempts}/{uuid4().hex}", b"")
            metadata = self._worker.run(pickle.loads(packed))  # nosec B301
            self._directory.remove(attempts)
        except ReadAgainError as error:
            return pickle.dumps(error)
        return pickle.dumps(metadata)


def _working_dir(job: BatchJob) -> Path | None:
    """Return the working directory if a path is relative to it, otherwise None."""
    files = (file.location for file in job.files)
    paths = (location for location in (job.config.out, *files) if not is_remote(location))
    return None if all(Path(path).is_absolute() for path in paths) else Path.cwd()


def _change_dir(working_dir: Path | None) -> None:
    """Change to the working directory of the job; Ray starts processes in another one."""
    if working_dir is not None:
        try:
            os.chdir(working_dir)
        except OSError as error:
            raise DataError(
                f"{working_dir}: missing on the node {platform.node()}; use a folder that all "
                "nodes of the cluster share, or an address such as s3://…"
            ) from error


def _model_files(model: str) -> dict[str, bytes]:
    """Return the files of a model that other nodes may lack; none for a bundled model."""
    if model in bundled_models():
        return {}
    directory = find_model(model)
    names = (MANIFEST_FILE, *read_manifest(directory).files)
    return {name: (directory / name).read_bytes() for name in names}


@contextmanager
def _connection(ray: ModuleType, address: str | None) -> Iterator[None]:
    """Connect to the cluster until the block ends, unless this process is already connected."""
    if ray.is_initialized():
        yield
        return
    logging.getLogger("ray.data").setLevel(logging.WARNING)
    # The command shows its own progress.
    logging.getLogger("ray.data._internal.progress").setLevel(logging.ERROR)
    try:
        ray.init(address=address, log_to_driver=False, logging_level=logging.WARNING)
    except (ConnectionError, ValueError) as error:
        reason = first_line(error)
        raise ArgumentError(
            "{address}: no Ray cluster can be reached at {0}: {1}", address, reason
        ) from error
    try:
        yield
    finally:
        ray.shutdown()
