"""Gate around runs of ONNX Runtime, closed while the process forks or ends.

A child that is forked while a thread is inside ONNX Runtime inherits locks that nobody releases. A
daemon thread that leaves ONNX Runtime after Python has ended aborts the process, since C++ code
cannot be unwound then.
"""

import atexit
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

MAX_WAIT_S = 10.0
"""Maximum time that a fork or the end of the process waits for runs in other threads."""


class RunGate:
    """Count of the threads inside ONNX Runtime; while the gate is closed, others wait outside."""

    def __init__(self) -> None:
        self._changed = threading.Condition(threading.Lock())
        self._num_inside = 0
        self._is_ending = False

    @contextmanager
    def inside(self) -> Iterator[None]:
        """Hold the gate open while the block runs; wait if it is closed."""
        if self._is_ending and not threading.current_thread().daemon:
            yield  # other threads have ended, so this one may still summarize in an exit handler
            return
        with self._changed:
            self._num_inside += 1
        try:
            yield
        finally:
            with self._changed:
                self._num_inside -= 1
                self._changed.notify_all()

    def close(self) -> None:
        """Wait until no thread is inside, and keep others outside until `open`."""
        self._changed.acquire()
        self._changed.wait_for(lambda: self._num_inside == 0, MAX_WAIT_S)

    def open(self) -> None:
        """Let threads in again."""
        self._changed.release()

    def open_in_child(self) -> None:
        """Let threads in again in a forked process, which has no other threads of its parent."""
        self._num_inside = 0
        self.open()

    def close_at_exit(self) -> None:
        """Close the gate for daemon threads, which end with the process."""
        self._is_ending = True
        self.close()


RUN_GATE = RunGate()
atexit.register(RUN_GATE.close_at_exit)
if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(
        before=RUN_GATE.close,
        after_in_parent=RUN_GATE.open,
        after_in_child=RUN_GATE.open_in_child,
    )
