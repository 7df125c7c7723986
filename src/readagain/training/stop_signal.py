"""Handling of SIGTERM and Ctrl-C, which stop a run after the current update."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

SIGNALS = (signal.SIGTERM, signal.SIGINT)


class StopSignal:
    """Flag that stops a run after the current update when it is set."""

    def __init__(self) -> None:
        self.is_set = False


@contextmanager
def catch_stop_signals() -> Iterator[StopSignal]:
    """Yield a flag; until the block ends, SIGTERM and Ctrl-C only set this flag.

    After the first signal, Ctrl-C has its usual effect again. SIGTERM has none, since `timeout`
    sends it twice, to its child and to the process group. If the second SIGTERM ended the process
    inside a CUDA kernel, all processes that share the GPU through MPS would fail, too.
    """
    stop = StopSignal()
    original_handlers = {number: signal.getsignal(number) for number in SIGNALS}

    def handle(number: int, frame: FrameType | None) -> None:
        stop.is_set = True
        signal.signal(signal.SIGINT, original_handlers[signal.SIGINT])

    for number in SIGNALS:
        signal.signal(number, handle)
    try:
        yield stop
    finally:
        for number, handler in original_handlers.items():
            signal.signal(number, handler)
