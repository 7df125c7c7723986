"""A worker that is told to stop."""

import signal

import pytest

from readagain.serve.address import bind
from readagain.serve.models import LoadedModels
from readagain.serve.settings import ServeSettings
from readagain.serve.worker import run_worker


@pytest.fixture
def port():
    """A port that nobody listens on; afterwards signals are handled as they were before."""
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    with bind("127.0.0.1", 0, shared=False) as taken:
        yield taken
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_while_models_are_loaded_is_not_lost(models, port, monkeypatch, number):
    def load(settings):
        signal.raise_signal(number)
        return models

    def tell_ready():
        told.append("ready")
        signal.raise_signal(signal.SIGTERM)  # or it would serve for ever

    told = []
    monkeypatch.setattr(LoadedModels, "load", load)
    run_worker(ServeSettings(), port, tell_ready)
    assert told == []


def test_a_signal_to_a_worker_that_answers_ends_it(models, port, monkeypatch):
    monkeypatch.setattr(LoadedModels, "load", lambda settings: models)
    run_worker(ServeSettings(), port, lambda: signal.raise_signal(signal.SIGTERM))
