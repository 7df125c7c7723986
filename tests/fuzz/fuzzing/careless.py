"""Readers with one fault each, to test that the fuzzer detects it."""

import os
import signal
import time
from pathlib import Path

from fuzzing.targets import Reader, Target
from readagain.errors import DataError


def _raise(data: bytes) -> None:
    if data == b"bad":
        raise KeyError("a traceback nobody asked for")


def _talk(data: bytes) -> None:
    if data == b"bad":
        raise DataError("a long line " * 200)


def _linger(data: bytes) -> None:
    if data == b"bad":
        until = time.process_time() + 1.2
        while time.process_time() < until:
            pass


def _hoard(data: bytes) -> None:
    if data == b"bad":
        bytearray(4 << 30)


def _die(data: bytes) -> None:
    if data == b"bad":
        os.kill(os.getpid(), signal.SIGKILL)


def _refuse(data: bytes) -> None:
    raise DataError("refused, as it should be")


def _target(read: Reader) -> Target:
    def begin(folder: Path) -> Reader:
        return read

    return Target(seeds=lambda: [b"good", b"bad", b"good again"], begin=begin)


CARELESS = {
    "raises": _target(_raise),
    "talks": _target(_talk),
    "lingers": _target(_linger),
    "hoards": _target(_hoard),
    "dies": _target(_die),
    "refuses": _target(_refuse),
}
