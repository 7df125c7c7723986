"""Targets that fail on the input b"bad", each in another way, to test the fuzzer itself."""

import os
import signal
import time

from fuzzing.targets import InputReader, Target
from readagain.errors import DataError


def _raise_key_error(data: bytes) -> None:
    if data == b"bad":
        raise KeyError("not a ReadAgainError")


def _raise_long_message(data: bytes) -> None:
    if data == b"bad":
        raise DataError("a long line " * 200)


def _use_cpu(data: bytes) -> None:
    if data == b"bad":
        end = time.process_time() + 1.2
        while time.process_time() < end:
            pass


def _use_memory(data: bytes) -> None:
    if data == b"bad":
        bytearray(4 << 30)


def _crash(data: bytes) -> None:
    if data == b"bad":
        os.kill(os.getpid(), signal.SIGKILL)


def _reject(data: bytes) -> None:
    raise DataError("every input is rejected, which is not a failure")


def _make_target(read: InputReader) -> Target:
    return Target(
        seed_inputs=lambda: [b"good", b"bad", b"also good"], make_reader=lambda folder: read
    )


FAULTY_TARGETS = {
    "exception": _make_target(_raise_key_error),
    "long-message": _make_target(_raise_long_message),
    "slow": _make_target(_use_cpu),
    "memory": _make_target(_use_memory),
    "crash": _make_target(_crash),
    "rejects-all": _make_target(_reject),
}
