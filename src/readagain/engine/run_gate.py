"""Lock around calls of ONNX Runtime that makes forks and the end of the process wait for them.

A process that is forked during a call of another thread inherits locks of ONNX Runtime that nobody
releases. A daemon thread whose call returns after Python has ended aborts the process, since C++
code cannot be unwound then.

Other locks must not be held outside the gate, since they would stay locked in the forked process.
So the classes that decoding uses have no `functools.cached_property`: before Python 3.12 it has a
lock that all instances share.
"""

import atexit
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

MAX_WAIT_S = 10.0
"""Maximum time that a fork or the end of the process waits for calls in other threads."""


class RunGate:
    """Gate that any number of threads may enter to call ONNX Runtime, unless it is closed."""

    def __init__(self) -> None:
        # Notified when a thread leaves. Its lock is held while the gate is closed.
        self._changed = threading.Condition(threading.Lock())
        self._num_inside = 0
        self._is_ending = False

    @contextmanager
    def inside(self) -> Iterator[None]:
        """Enter the gate for the duration of a `with` block; wait while it is closed."""
        if self._is_ending and not threading.current_thread().daemon:
            yield  # an exit handler, which may still summarize
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
        """Wait until no thread is inside, and let none enter until `open` is called."""
        self._changed.acquire()
        self._changed.wait_for(lambda: self._num_inside == 0, MAX_WAIT_S)

    def open(self) -> None:
        """Allow threads to enter again."""
        self._changed.release()

    def open_in_child(self) -> None:
        """Open the gate in a forked process, which has only the thread that called fork."""
        self._num_inside = 0
        self.open()

    def close_at_exit(self) -> None:
        """Close the gate for daemon threads until the process ends; other threads may enter."""
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
