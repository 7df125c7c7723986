"""Commands that send themselves a signal at an exact point.

A test that waits for a file and then kills the process that wrote it fails if the process ends too
early on a fast or busy machine. Here the process raises the signal itself, after a certain call of
a function has returned.

As a script, this module runs `readagain ARGUMENT...`:

    python self_signal.py SIGNAL MODULE:FUNCTION CALL RANK ARGUMENT...
"""

import os
import signal
import sys
from functools import wraps
from importlib import import_module
from subprocess import Popen
from typing import Any


def readagain_with_signal(
    sent: signal.Signals, *, after: str, call: int = 1, rank: str = "any"
) -> list[str]:
    """Return the words that replace `readagain` in a command line.

    Args:
        sent: the signal.
        after: the function, as `module:function` or `module:Class.method`.
        call: the signal is sent when this call of the function has returned, counted from 1.
        rank: under torchrun, the only process that sends the signal; it does so once, even if
            torchrun restarts it.
    """
    return [sys.executable, __file__, sent.name, after, str(call), rank]


def wait_until_stopped(process: "Popen[Any]") -> None:
    """Wait until a process has sent itself SIGSTOP; fail if it ends instead."""
    status = os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
    assert status is not None
    assert status.si_code == os.CLD_STOPPED, "the process ended before it stopped itself"


def _send_after(sent: signal.Signals, function_name: str, call: int) -> None:
    """Replace a function by one that also sends the signal to this process."""
    module_name, _, path = function_name.partition(":")
    *class_names, name = path.split(".")
    owner: Any = import_module(module_name)
    for class_name in class_names:
        owner = getattr(owner, class_name)
    function = getattr(owner, name)
    num_calls = 0

    @wraps(function)
    def call_and_count(*arguments: Any, **options: Any) -> Any:
        nonlocal num_calls
        result = function(*arguments, **options)
        num_calls += 1
        if num_calls == call:
            os.kill(os.getpid(), sent)
        return result

    setattr(owner, name, call_and_count)


def _run(signal_name: str, after: str, call: str, rank: str, *arguments: str) -> None:
    is_restarted = os.environ.get("TORCHELASTIC_RESTART_COUNT", "0") != "0"
    if rank == "any" or (rank == os.environ["RANK"] and not is_restarted):
        _send_after(signal.Signals[signal_name], after, int(call))
    from readagain.cli.main import main

    main(arguments)


if __name__ == "__main__":  # not in worker processes, which import this file again
    _run(*sys.argv[1:])
