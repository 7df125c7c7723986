"""Calls of ONNX Runtime in other threads while the process forks or ends."""

import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from importlib import import_module
from pathlib import Path

import pytest

from readagain.engine import run_gate
from readagain.engine.onnx_model import OnnxStepModel
from readagain.engine.run_gate import RUN_GATE, RunGate


def test_close_waits_for_the_thread_inside():
    gate, is_inside, may_leave = RunGate(), threading.Event(), threading.Event()

    def run():
        with gate.inside():
            is_inside.set()
            assert may_leave.wait(30)
        return "left"

    with ThreadPoolExecutor(2) as pool:
        running = pool.submit(run)
        assert is_inside.wait(30)
        closing = pool.submit(gate.close)
        assert not closing.done()
        may_leave.set()
        closing.result(30)
        assert running.result(30) == "left"


def test_closed_gate_keeps_threads_outside_until_opened():
    gate, has_entered = RunGate(), threading.Event()

    def run():
        with gate.inside():
            has_entered.set()

    gate.close()
    thread = threading.Thread(target=run)
    thread.start()
    assert not has_entered.is_set()
    gate.open()
    thread.join(30)
    assert has_entered.is_set()


def test_exit_handlers_may_still_run():
    gate = RunGate()
    gate.close_at_exit()
    with gate.inside():
        pass


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_child_process_enters_the_gate():
    child = os.fork()
    if child == 0:
        with RUN_GATE.inside():
            os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    with RUN_GATE.inside():
        pass


@pytest.mark.parametrize("package", ["engine", "search", "text"])
def test_decoding_uses_no_cached_property(package):
    """Before Python 3.12 it has a lock, which a forked process may inherit locked."""
    folder = Path(run_gate.__file__).parents[1] / package
    modules = [import_module(f"readagain.{package}.{path.stem}") for path in folder.glob("*.py")]
    classes = {
        value for module in modules for value in vars(module).values() if type(value) is type
    }
    assert not [
        f"{each.__qualname__}.{name}"
        for each in classes
        for name, value in vars(each).items()
        if each.__module__.startswith(f"readagain.{package}") and type(value) is cached_property
    ]


def test_parallel_model_is_opened_inside_the_gate(toy):
    graphs = [(toy / f"{name}.int8.onnx").read_bytes() for name in ("encoder", "step")]
    model = OnnxStepModel.open(*graphs, threads=2)
    session = model._open_parallel_step()
    nums_inside = []

    def open_step():
        nums_inside.append(RUN_GATE._num_inside)
        return session

    model._open_parallel_step = open_step
    model.for_parallel_batch()
    assert nums_inside == [1]


@pytest.mark.slow
@pytest.mark.parametrize("attempt", range(3))
def test_daemon_thread_does_not_abort_the_end_of_the_process(attempt, toy):
    program = (
        "import sys, threading\n"
        "from readagain.engine.summarizer import Summarizer\n"
        "summarizer, has_begun = Summarizer.load(sys.argv[1], threads=1), threading.Event()\n"
        "def work():\n"
        "    while True:\n"
        "        summarizer.summarize(['A storm came to the harbour of Norrvik.'] * 64)\n"
        "        has_begun.set()\n"
        "threading.Thread(target=work, daemon=True).start()\n"
        "has_begun.wait()\n"
    )
    process = subprocess.run(
        [sys.executable, "-c", program, str(toy)], capture_output=True, text=True, check=False
    )
    assert (process.returncode, process.stderr) == (0, "")


@pytest.mark.slow
def test_forked_children_summarize_beside_a_busy_thread(toy):
    program = (
        "import os, signal, sys, threading, warnings\n"
        "from readagain.engine.summarizer import Summarizer\n"
        "warnings.simplefilter('ignore')\n"
        "summarizer, has_begun = Summarizer.load(sys.argv[1], threads=2), threading.Event()\n"
        "def work():\n"
        "    while True:\n"
        "        summarizer.summarize(['A storm came to the harbour of Norrvik.'] * 64)\n"
        "        has_begun.set()\n"
        "threading.Thread(target=work, daemon=True).start()\n"
        "has_begun.wait()\n"
        "for _ in range(20):\n"
        "    child = os.fork()\n"
        "    if child == 0:\n"
        "        signal.alarm(60)\n"
        "        os._exit(0 if summarizer.summarize('The harbour opened.') else 1)\n"
        "    assert os.waitpid(child, 0)[1] == 0\n"
    )
    process = subprocess.run(
        [sys.executable, "-c", program, str(toy)], capture_output=True, text=True, check=False
    )
    assert (process.returncode, process.stderr) == (0, "")
