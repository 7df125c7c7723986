"""Fixture that runs the command line in this process."""

import io
import sys
from subprocess import CompletedProcess

import pytest

from readagain.cli.main import main


@pytest.fixture
def readagain(monkeypatch, tmp_path_factory):
    """Function that runs the command line and returns a `CompletedProcess`."""
    folder = tmp_path_factory.mktemp("stdin")

    def run(*arguments, cwd=None, input="", env=None):
        (folder / "stdin").write_bytes(input if isinstance(input, bytes) else input.encode())
        streams = {name: io.TextIOWrapper(io.BytesIO(), "utf-8") for name in ("stdout", "stderr")}
        status = 0
        with monkeypatch.context() as patch, (folder / "stdin").open() as stdin:
            for name, stream in (*streams.items(), ("stdin", stdin)):
                patch.setattr(sys, name, stream)
            for name, value in (env or {}).items():
                patch.setenv(name, value)
            if cwd is not None:
                patch.chdir(cwd)
            try:
                main([str(argument) for argument in arguments])
            except SystemExit as end:
                status = end.code or 0
        for stream in streams.values():
            stream.flush()
        out, err = (stream.buffer.getvalue().decode() for stream in streams.values())
        return CompletedProcess(arguments, status, out, err)

    return run
