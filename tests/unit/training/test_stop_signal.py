"""SIGTERM and Ctrl-C set the stop signal; a second Ctrl-C has its usual effect."""

import os
import signal

import pytest

from readagain.training.stop_signal import catch_stop_signals


@pytest.fixture(autouse=True)
def _usual_ctrl_c():
    """Restore the default handler; shells make background programs ignore Ctrl-C."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_first_signal_sets_stop(number):
    before = signal.getsignal(number)
    with catch_stop_signals() as stop:
        assert not stop.is_set
        os.kill(os.getpid(), number)
        assert stop.is_set
    assert signal.getsignal(number) is before


def test_second_ctrl_c_interrupts():
    with catch_stop_signals():
        os.kill(os.getpid(), signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)


def test_second_sigterm_does_not_end_the_process():
    """`timeout` sends SIGTERM to its child and to the process group."""
    received = []
    before = signal.signal(signal.SIGTERM, lambda *_: received.append("usual effect"))
    try:
        with catch_stop_signals() as stop:
            for _ in range(2):
                signal.raise_signal(signal.SIGTERM)
            assert stop.is_set
            assert received == []
        signal.raise_signal(signal.SIGTERM)
        assert received == ["usual effect"]
    finally:
        signal.signal(signal.SIGTERM, before)
