"""How a process behaves that another one started to help it."""

import signal
import threading
from multiprocessing import parent_process


def follow_parent() -> None:
    """Leave Ctrl-C to the parent, and leave with it should it be killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = parent_process()
    assert parent is not None
    parent.join()
    signal.raise_signal(signal.SIGTERM)
