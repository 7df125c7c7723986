"""Start and stop of the server, as one process or as several workers under uvicorn's supervisor."""

import logging
import os
import shutil
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from multiprocessing import resource_tracker
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from readagain.errors import ConfigError, ReadAgainError, require
from readagain.model_dir import ModelDir
from readagain.processors import check_parallelism
from readagain.serve.logs import logger, start_logging
from readagain.serve.settings import METRICS_DIR, ServeSettings
from readagain.serve.sockets import WorkerSocket, bind, reserve, url
from readagain.storage.bundled import find_model
from readagain.worker_pool import end_with_parent

if TYPE_CHECKING:
    import uvicorn
    from fastapi import FastAPI

GRACE_S = 2.0
"""A stopping worker waits for its last requests for the request timeout plus this time."""
HEADER_TIMEOUT_S = 10
"""Maximum time for the headers of a request to arrive, and for a connection to be idle."""
BACKLOG = 2048
"""Maximum number of connections that wait to be accepted."""
OTHER_FILES = 100
"""Maximum number of open files of a worker, without connections."""
HEALTH_CHECK_S = 10
"""Maximum time for a worker to answer the supervisor; a slower worker is replaced."""
START_TIMEOUT_S = 120
"""Maximum time for a worker to start."""
METRICS_FILES = ("counter", "histogram", "gauge_livesum", "gauge_liveall")
"""Kinds of files that prometheus_client writes for each worker: `<kind>_<process id>.db`."""
METRICS_FILE_BYTES = 1 << 20
"""Initial size of each file of prometheus_client; these metrics need less."""


def serve(settings: ServeSettings, announce: Callable[[str], None]) -> None:
    """Serve requests until SIGTERM or Ctrl-C, then finish the accepted requests.

    `announce` is called with the URL when the server is ready.

    Raises:
        ReadAgainError: if a model cannot be used, the port cannot be bound, the extra is missing,
            or there are too many workers or threads for this machine.
    """
    check_parallelism("workers", settings.workers)
    check_parallelism("threads", settings.threads)
    for module in ("fastapi", "uvicorn", "prometheus_client"):
        require(module, extra="serve", purpose="serving")
    for model in settings.models:
        ModelDir.open(find_model(model))
    if settings.workers > 1:
        _run_workers(settings, announce)
    else:
        _run_single(settings, announce)


def _run_single(settings: ServeSettings, announce: Callable[[str], None]) -> None:
    """Run the server in this process."""
    import uvicorn

    bound = bind(settings.host, settings.port)
    server_url = url(settings.host, bound.getsockname()[1])

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            if not self.should_exit:
                announce(server_url)

    start_logging()
    server = Server(_uvicorn_config(settings))

    def stop(number: int, frame: object) -> None:
        server.should_exit = True

    # uvicorn handles SIGTERM and SIGINT while it runs, and raises them again when it has stopped.
    # Without this handler they would then end the process with an error status.
    for name in ("SIGTERM", "SIGINT", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), stop)
    with bound:
        server.run(sockets=[bound])


def _run_workers(settings: ServeSettings, announce: Callable[[str], None]) -> None:
    """Run several workers; uvicorn replaces those that die or hang, and all of them on SIGHUP."""
    from uvicorn.config import STARTUP_FAILURE
    from uvicorn.supervisors import Multiprocess

    class Supervisor(Multiprocess):
        is_announced = False

        def init_processes(self) -> None:
            with _blocked_signals():
                super().init_processes()
            for each in self.processes:
                each.wait_until_ready(START_TIMEOUT_S)
            self.announce_when_ready()

        def announce_when_ready(self) -> None:
            if not self.is_announced and all(each.is_ready() for each in self.processes):
                self.is_announced = True
                announce(url(settings.host, port))

        def keep_subprocess_alive(self) -> None:
            # Discard late answers to earlier health checks: they would hide a worker that hangs.
            for each in self.processes:
                while each.parent_conn.poll():
                    each.parent_conn.recv()
            with _blocked_signals():
                super().keep_subprocess_alive()
            self.announce_when_ready()

        def restart_all(self) -> None:
            self.keep_subprocess_alive()  # replaces a hung worker; uvicorn would wait for its end
            with _blocked_signals():
                super().restart_all()

        def join_all(self) -> None:
            for each in self.processes:
                each.process.join(settings.limits.timeout_s + 2 * GRACE_S)
                each.process.kill()  # has no effect unless the worker hangs
            super().join_all()

    # The reserved socket never listens; it reserves the port while workers are replaced.
    with reserve(settings.host, settings.port) as reserved, _metrics_dir() as directory:
        os.environ[METRICS_DIR] = directory
        port = reserved.getsockname()[1]
        start_logging(uvicorn_level=logging.INFO)
        sockets: list[Any] = [WorkerSocket(settings.host, port)]
        supervisor = Supervisor(_uvicorn_config(settings), sockets)
        try:
            supervisor.run()
        finally:
            del os.environ[METRICS_DIR]
    if any(each.exitcode == STARTUP_FAILURE for each in supervisor.processes):
        raise ReadAgainError("workers: one could not start; see the reason in the log above")


@contextmanager
def _blocked_signals() -> Iterator[None]:
    """Block SIGINT and SIGHUP in this process, and for good in processes started in the block.

    A terminal sends both to all processes, but only the supervisor handles them. They would end a
    worker that is still importing modules, with a traceback in the log.
    """
    if sys.platform == "win32":
        yield
        return
    signals = {signal.SIGINT, signal.SIGHUP}
    old_mask = signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    resource_tracker.ensure_running()  # starting this process unblocks SIGINT here
    signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, old_mask)


def _uvicorn_config(settings: ServeSettings) -> "uvicorn.Config":
    import uvicorn

    from readagain.serve.protocol import LimitedProtocol

    return uvicorn.Config(
        partial(_create_worker_app if settings.workers > 1 else _create_app, settings),
        factory=True,
        http=LimitedProtocol,
        loop="asyncio",  # uvloop ignores the buffer size of the protocol
        ws="none",
        workers=settings.workers,
        log_config=None,
        access_log=False,
        server_header=False,
        backlog=BACKLOG,
        limit_concurrency=_max_connections(settings.limits.max_connections),
        timeout_keep_alive=HEADER_TIMEOUT_S,
        timeout_graceful_shutdown=int(settings.limits.timeout_s + GRACE_S),
        timeout_worker_healthcheck=HEALTH_CHECK_S,
    )


def _max_connections(setting: int) -> int:
    """Raise the limit of open files; return the setting, reduced to what the limit allows.

    asyncio accepts up to `BACKLOG` connections at once, before `LimitedProtocol` closes idle ones.
    If that exceeds the limit of open files, it accepts none for a second.
    """
    if sys.platform == "win32":
        return setting
    import resource

    max_files, hard_limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = setting + BACKLOG + OTHER_FILES
    if max_files == resource.RLIM_INFINITY or max_files >= wanted:
        return setting
    if hard_limit != resource.RLIM_INFINITY:
        wanted = max(max_files, min(wanted, hard_limit))
    with suppress(ValueError):  # macOS has a lower limit than it reports
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard_limit))
        max_files = wanted
    return max(1, min(setting, max_files - OTHER_FILES))


def _create_app(settings: ServeSettings) -> "FastAPI":
    from readagain.serve.app import build_app
    from readagain.serve.models import LoadedModels

    return build_app(settings, LoadedModels.load(settings))


def _create_worker_app(settings: ServeSettings) -> "FastAPI":
    """Create the application in a worker process."""
    from uvicorn.config import STARTUP_FAILURE

    start_logging()
    end_with_parent(lambda: shutil.rmtree(os.environ.get(METRICS_DIR, ""), ignore_errors=True))
    _reserve_metrics()
    try:
        return _create_app(settings)
    except ReadAgainError as error:
        logger.error("cannot start", extra={"fields": {"reason": str(error)}})
        sys.exit(STARTUP_FAILURE)


def _metrics_dir() -> TemporaryDirectory[str]:
    try:
        return TemporaryDirectory(prefix="readagain-metrics-", ignore_cleanup_errors=True)
    except OSError as error:
        raise ConfigError(
            f"metrics: no temporary directory ({error.strerror}); set TMPDIR to a writable one"
        ) from error


def _reserve_metrics() -> None:
    """Allocate the metrics files of this worker before prometheus_client maps them.

    Otherwise the files are sparse, and a write to a mapped page on a full disk ends the process
    with SIGBUS. If the disk is full, this worker keeps its metrics in memory.
    """
    paths = [Path(os.environ[METRICS_DIR], f"{kind}_{os.getpid()}.db") for kind in METRICS_FILES]
    try:
        for path in paths:
            with path.open("wb") as file:
                if sys.platform == "linux":  # several workers are supported on Linux only
                    os.posix_fallocate(file.fileno(), 0, METRICS_FILE_BYTES)
    except OSError as error:
        for path in paths:
            path.unlink(missing_ok=True)
        del os.environ[METRICS_DIR]
        fields = {"reason": error.strerror}
        logger.warning("metrics of this worker are not shared", extra={"fields": fields})
