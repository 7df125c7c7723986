"""SIGTERM and Ctrl-C as a wish to stop soon, not as an accident."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

SIGNALS = (signal.SIGTERM, signal.SIGINT)


class StopSignal:
    """Whether somebody has asked the run to stop."""

    def __init__(self) -> None:
        self.is_asked = False


@contextmanager
def listening() -> Iterator[StopSignal]:
    """Note the first SIGTERM or Ctrl-C; a second one acts as if nobody listened."""
    wish = StopSignal()
    before = {number: signal.getsignal(number) for number in SIGNALS}

    def note(number: int, frame: FrameType | None) -> None:
        wish.is_asked = True
        _restore()

    def _restore() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)

    for number in SIGNALS:
        signal.signal(number, note)
    try:
        yield wish
    finally:
        _restore()
