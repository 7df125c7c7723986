"""Workers that come and go, as their supervisor sees them."""

import os
from multiprocessing import Pipe
from types import SimpleNamespace

import pytest

from readagain.errors import ReadAgainError
from readagain.serve.settings import SHARED_METRICS, ServeSettings
from readagain.serve.supervisor import Supervisor, _ServerProcess


@pytest.fixture
def supervisor(tmp_path, monkeypatch):
    monkeypatch.setenv(SHARED_METRICS, str(tmp_path))
    supervisor = Supervisor(ServeSettings(port=0, workers=1))
    supervisor._due = []
    with supervisor._reserved:
        yield supervisor


@pytest.fixture
def dead_worker():
    """A worker that ended before it was ready: its process and its pipe say so together."""
    sentinel, ending = os.pipe()
    ready, telling = Pipe(duplex=False)
    os.close(ending)
    telling.close()
    process = SimpleNamespace(sentinel=sentinel, join=lambda: None, pid=77, exitcode=1)
    yield _ServerProcess(process, ready, started=0.0)
    os.close(sentinel)


def test_a_new_worker_that_dies_at_its_start_is_followed_by_another(supervisor, dead_worker):
    supervisor._all_were_ready = True
    supervisor._workers = [dead_worker]
    supervisor._look()
    assert supervisor._workers == []
    assert len(supervisor._due) == 1
    assert dead_worker.ready.closed


def test_a_first_worker_that_dies_at_its_start_ends_the_server(supervisor, dead_worker):
    supervisor._workers = [dead_worker]
    with pytest.raises(ReadAgainError, match="a worker ended with status 1 before it answered"):
        supervisor._look()


def test_workers_that_die_young_are_followed_more_and_more_slowly(supervisor, monkeypatch):
    monkeypatch.setattr("time.monotonic", lambda: 100.0)
    supervisor._all_were_ready = True
    for _ in range(9):
        ready, _ = Pipe(duplex=False)
        process = SimpleNamespace(join=lambda: None, pid=77, exitcode=1)
        worker = _ServerProcess(process, ready, started=99.0, is_ready=True)
        supervisor._workers = [worker]
        supervisor._replace(worker)
    pauses = [due - 100.0 for due in supervisor._due]
    assert pauses == [0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0, 30.0]
