"""Start and stop of a server process."""

import errno
import json
import os
import resource
import signal

import pytest

from readagain.serve import server
from readagain.serve.models import LoadedModels
from readagain.serve.server import serve
from readagain.serve.settings import METRICS_DIR, ServeSettings

SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


@pytest.fixture
def run(models, monkeypatch):
    """Serve the toy model; afterwards signals are handled as before."""
    before = {number: signal.getsignal(number) for number in SIGNALS}

    def run(announce, load=lambda settings: models):
        monkeypatch.setattr(LoadedModels, "load", load)
        serve(ServeSettings(port=0), announce)

    yield run
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("number", SIGNALS)
def test_signal_stops_the_server_after_it_started(run, number):
    announced = []

    def announce(url):
        announced.append(url)
        signal.raise_signal(number)

    run(announce)
    assert announced[0].startswith("http://127.0.0.1:")


@pytest.mark.parametrize("number", SIGNALS)
def test_signal_while_models_load_stops_the_server(run, models, number):
    announced = []

    def load(settings):
        signal.raise_signal(number)
        return models

    def announce(url):
        announced.append(url)
        signal.raise_signal(signal.SIGTERM)  # else it would serve forever

    run(announce, load)
    assert announced == []


@pytest.mark.parametrize(
    ("limits", "expected", "new_limits"),
    [
        ((256, 256), 156, (256, 256)),
        ((256, 512), 412, (512, 512)),
        ((1024, 524288), 800, (800 + server.BACKLOG + 100, 524288)),
        ((1024, resource.RLIM_INFINITY), 800, (2948, resource.RLIM_INFINITY)),
        ((4096, 4096), 800, (4096, 4096)),
        ((resource.RLIM_INFINITY, resource.RLIM_INFINITY), 800, (resource.RLIM_INFINITY,) * 2),
    ],
)
def test_connections_stay_below_the_limit_of_open_files(monkeypatch, limits, expected, new_limits):
    current = [limits]
    monkeypatch.setattr("resource.getrlimit", lambda kind: current[-1])
    monkeypatch.setattr("resource.setrlimit", lambda kind, value: current.append(value))
    assert server._max_connections(800) == expected
    assert current[-1] == new_limits


def test_limit_of_open_files_that_cannot_be_raised_is_kept(monkeypatch):
    def refuse(kind, limits):
        raise ValueError("current limit exceeds maximum limit")

    monkeypatch.setattr("resource.getrlimit", lambda kind: (256, resource.RLIM_INFINITY))
    monkeypatch.setattr("resource.setrlimit", refuse)
    assert server._max_connections(800) == 156


def test_metrics_files_are_allocated_before_use(tmp_path, monkeypatch):
    monkeypatch.setenv(METRICS_DIR, str(tmp_path))
    server._reserve_metrics()
    sizes = {path.name: path.stat().st_blocks * 512 for path in tmp_path.iterdir()}
    assert set(sizes) == {f"{kind}_{os.getpid()}.db" for kind in server.METRICS_FILES}
    assert min(sizes.values()) >= server.METRICS_FILE_BYTES


def test_metrics_are_kept_in_memory_when_the_disk_is_full(tmp_path, monkeypatch, caplog):
    """A write to a mapped file on a full disk would end the process with SIGBUS."""
    monkeypatch.setenv(METRICS_DIR, str(tmp_path))

    def fail(*arguments):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "posix_fallocate", fail)
    server._reserve_metrics()
    assert METRICS_DIR not in os.environ
    assert list(tmp_path.iterdir()) == []
    (record,) = caplog.records
    assert json.dumps(record.fields) == '{"reason": "No space left on device"}'
