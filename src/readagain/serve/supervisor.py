"""Several workers on one port: started together, replaced when they die, stopped together."""

import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from multiprocessing import connection
from multiprocessing.process import BaseProcess
from tempfile import TemporaryDirectory

from readagain.errors import ConfigError, ReadAgainError
from readagain.serve.address import bind, reserve, url
from readagain.serve.logs import logger, start_logging
from readagain.serve.settings import GRACE_S, SHARED_METRICS, ServeSettings

LOOK_EVERY_S = 0.5
STEADY_S = 10.0
"""A worker that lived this long is replaced at once; others after a pause that doubles."""
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.5, 30.0


@dataclass
class _ServerProcess:
    process: BaseProcess
    ready: connection.Connection
    started: float
    is_ready: bool = False


class Supervisor:
    """Keeps the workers of a server running.

    Args:
        settings: what they serve.

    Raises:
        ConfigError: when the port cannot be taken.
    """

    def __init__(self, settings: ServeSettings) -> None:
        # Taken, and never listened on: it keeps the port while workers come and go.
        self._reserved = reserve(settings.host, settings.port)
        self._settings = replace(settings, port=self._reserved.getsockname()[1])
        self._spawn = multiprocessing.get_context("spawn")
        self._workers: list[_ServerProcess] = []
        self._due = [0.0] * settings.workers  # when the missing ones are started
        self._pause_s = FIRST_PAUSE_S
        self._all_were_ready = False
        self._is_stopping = False

    def run(self, announce: Callable[[str], None]) -> None:
        """Run the workers until told to stop, then let them finish.

        Args:
            announce: is told the address once all of them answer.

        Raises:
            ReadAgainError: when a worker ends before all of them answered once.
        """
        with self._reserved, _folder_for_metrics() as folder:
            os.environ[SHARED_METRICS] = folder
            start_logging()
            for number in (signal.SIGTERM, signal.SIGINT):
                signal.signal(number, self._begin_to_stop)
            try:
                while not self._is_stopping:
                    self._start_due()
                    self._look()
                    if not self._all_were_ready and self._all_are_ready():
                        self._all_were_ready = True
                        announce(url(self._settings.host, self._settings.port))
            finally:
                self._stop()
        logger.info("all workers stopped")

    def _begin_to_stop(self, number: int, frame: object) -> None:
        self._is_stopping = True

    def _all_are_ready(self) -> bool:
        ready = [worker for worker in self._workers if worker.is_ready]
        return len(ready) == self._settings.workers

    def _start_due(self) -> None:
        """Start the workers that are missing, once their pause is over."""
        now = time.monotonic()
        due = [moment for moment in self._due if moment <= now]
        self._due = [moment for moment in self._due if moment > now]
        for _ in due:
            reading, writing = self._spawn.Pipe(duplex=False)
            process = self._spawn.Process(target=_work, args=(self._settings, writing))
            process.start()
            writing.close()
            self._workers.append(_ServerProcess(process, reading, now))

    def _look(self) -> None:
        """Wait a moment for workers that become ready or die."""
        starting = [worker.ready for worker in self._workers if not worker.is_ready]
        ends = [worker.process.sentinel for worker in self._workers]
        happened = connection.wait([*starting, *ends], timeout=LOOK_EVERY_S)
        for worker in list(self._workers):
            if not worker.is_ready and worker.ready in happened:
                worker.is_ready = _is_told(worker.ready)
            if worker.process.sentinel in happened and not self._is_stopping:
                self._replace(worker)

    def _replace(self, worker: _ServerProcess) -> None:
        """See to it that a worker that died is followed by another.

        Raises:
            ReadAgainError: while the server starts; another would die of the same.
        """
        worker.process.join()
        worker.ready.close()
        self._workers.remove(worker)
        _forget_gauges(worker.process.pid)
        status = worker.process.exitcode
        if not self._all_were_ready:
            raise ReadAgainError(
                f"a worker ended with status {status} before it answered; its log tells why"
            )
        lived_s = time.monotonic() - worker.started
        if lived_s >= STEADY_S:
            self._pause_s = FIRST_PAUSE_S
        pause_s = 0.0 if lived_s >= STEADY_S else self._pause_s
        self._due.append(time.monotonic() + pause_s)
        if pause_s:
            self._pause_s = min(2 * self._pause_s, LONGEST_PAUSE_S)
        facts = {"worker": worker.process.pid, "status": status, "replaced_in_s": pause_s}
        logger.warning("a worker died", extra={"facts": facts})

    def _stop(self) -> None:
        """Tell the workers to stop, wait for them, and end those that do not."""
        for worker in self._workers:
            worker.process.terminate()
        until = time.monotonic() + self._settings.limits.timeout_s + 2 * GRACE_S
        for worker in self._workers:
            worker.process.join(max(0.0, until - time.monotonic()))
            if worker.process.is_alive():
                worker.process.kill()
                worker.process.join()


def _folder_for_metrics() -> TemporaryDirectory[str]:
    try:
        return TemporaryDirectory(prefix="readagain-metrics-")
    except OSError as error:
        raise ConfigError(
            f"no folder for the metrics of several workers: {error.strerror}; "
            "name one that can be written in TMPDIR"
        ) from error


def _is_told(ready: connection.Connection) -> bool:
    try:
        return bool(ready.recv())
    except EOFError:  # it died; its sentinel says so
        return False


def _forget_gauges(pid: int | None) -> None:
    """Take a dead worker out of the gauges; what it counted stays."""
    from prometheus_client.multiprocess import mark_process_dead

    mark_process_dead(pid)  # type: ignore[no-untyped-call]


def _work(settings: ServeSettings, ready: connection.Connection) -> None:
    """Be a worker: what runs in each process."""
    from readagain.serve.worker import run_worker, stop_with_parent

    stop_with_parent()
    try:
        taken = bind(settings.host, settings.port, shared=True)
        run_worker(settings, taken, lambda: ready.send(True))
    except ReadAgainError as error:
        logger.error("cannot start", extra={"facts": {"reason": str(error)}})
        sys.exit(2)
