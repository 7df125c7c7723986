"""Handling of SIGTERM and Ctrl-C, which stop a run after the current update."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

SIGNALS = (signal.SIGTERM, signal.SIGINT)


class StopSignal:
    """Flag that is set to request that the run stops."""

    def __init__(self) -> None:
        self.is_set = False


@contextmanager
def catch_stop_signals() -> Iterator[StopSignal]:
    """Set the flag at the first SIGTERM or Ctrl-C; a second Ctrl-C has its usual effect.

    Further SIGTERMs only set the flag again. `timeout` sends SIGTERM twice, to its child and to the
    process group. If the second one ended the process inside a CUDA kernel, all processes that
    share the GPU through MPS would fail, too.
    """
    stop = StopSignal()
    handlers = {number: signal.getsignal(number) for number in SIGNALS}

    def handle(number: int, frame: FrameType | None) -> None:
        stop.is_set = True
        signal.signal(signal.SIGINT, handlers[signal.SIGINT])

    for number in SIGNALS:
        signal.signal(number, handle)
    try:
        yield stop
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
