"""Options of pytest, distribution of tests over processes, and shared fixtures."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from subprocess import CompletedProcess
from typing import Any

import pytest
from hypothesis import settings

SCOPES = {
    "tests/browser/": "browser",
    "tests/faults/": "faults",
    "tests/system/test_docs.py": "examples",
    "tests/system/test_examples.py": "examples",
    "tests/system/test_how_tos.py": "examples",
}
"""Tests that run in one process because they share expensive session fixtures."""

if "PYTEST_XDIST_WORKER" in os.environ:  # before torch and onnxruntime are imported
    os.environ.setdefault("OMP_NUM_THREADS", "1")


settings.register_profile("any-speed", deadline=None)  # no time limit, for busy machines
settings.load_profile("any-speed")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that CI sets."""
    parser.addoption("--no-skips", action="store_true", help="count a skipped test as failed")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """Turn a skipped test into a failed one with --no-skips."""
    report: Any = yield
    if report.skipped and not hasattr(report, "wasxfail") and item.config.getoption("--no-skips"):
        report.outcome = "failed"
        report.longrepr = f"skipped with --no-skips: {report.longrepr[2]}"
    return report


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Run all tests of a file, or of an entry in `SCOPES`, in the same worker process."""
    from xdist.scheduler import LoadScopeScheduling

    class FileScheduling(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            shared = (scope for path, scope in SCOPES.items() if nodeid.startswith(path))
            return next(shared, nodeid.partition("::")[0])

    config.option.loadscopereorder = False  # keep the order: slow files first, unit tests last
    return FileScheduling(config, log)


@pytest.fixture
def readagain() -> Callable[..., CompletedProcess[str]]:
    """Function that runs the command line in a new process."""

    def run(*arguments: object, **options: object) -> "CompletedProcess[str]":
        command = [sys.executable, "-m", "readagain", *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, check=False, **options)

    return run
