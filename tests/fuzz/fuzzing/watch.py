"""Calls of targets with limits on time and memory."""

import faulthandler
import mmap
import multiprocessing
import os
import resource
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from fuzzing.careless import CARELESS
from fuzzing.messages import check_message
from fuzzing.mutate import mutated
from fuzzing.targets import TARGETS
from readagain.errors import ReadAgainError

SECONDS_PER_10_KB = 1.0
HANG_S = 60
"""A process that says nothing for so long is ended: even a slow input is far behind it by then."""
MEMORY_BYTES = 1 << 30
"""What an input of at most 20 KB may have mapped, beside what the libraries had before."""


@dataclass(frozen=True)
class Broken:
    """An input that broke a promise."""

    target: str
    index: int
    what: str


@dataclass(frozen=True)
class Outcome:
    """What a series of inputs came to."""

    target: str
    inputs: int
    refused: int
    slowest_s: float
    broken: tuple[Broken, ...]


def watched(target: str, *, seed: int, first: int, inputs: int, most_broken: int = 20) -> Outcome:
    """Feed inputs `first` to `first + inputs` of a target's series to a child, again if it dies."""
    context = multiprocessing.get_context("spawn")
    done, refused, slowest_s = 0, 0, 0.0
    broken: list[Broken] = []
    with tempfile.NamedTemporaryFile() as file:
        file.write(bytes(8))
        file.flush()
        while done < inputs and len(broken) < most_broken:
            ours, theirs = context.Pipe(duplex=False)
            arguments = (target, seed, first + done, inputs - done, file.name, theirs)
            child = context.Process(target=_feed, args=arguments)
            child.start()
            theirs.close()
            try:
                while True:
                    message = ours.recv()
                    if isinstance(message, Broken):
                        broken.append(message)
                    else:
                        refused, slowest_s = refused + message[0], max(slowest_s, message[1])
            except EOFError:
                child.join()
            index = int.from_bytes(Path(file.name).read_bytes(), "little")
            if child.exitcode:
                broken.append(Broken(target, index, f"the process ended with {child.exitcode}"))
            done = index + 1 - first
    return Outcome(target, done, refused, slowest_s, tuple(broken))


def feed(target: str, *, seed: int, inputs: int) -> Outcome:
    """Feed the first inputs of a target in this process."""
    messages: list[Any] = []
    with _temporary_folder() as folder:
        _feed_all(target, seed, range(inputs), bytearray(8), folder, messages.append)
    *broken, (refused, slowest_s) = messages
    return Outcome(target, inputs, refused, slowest_s, tuple(broken))


def _feed(target: str, seed: int, first: int, inputs: int, at: str, to: Connection) -> None:
    """Feed inputs; write each number to a file before, so that a crash can be assigned."""
    with (
        _temporary_folder() as folder,
        Path(at).open("r+b") as file,
        mmap.mmap(file.fileno(), 8) as place,
    ):
        _feed_all(target, seed, range(first, first + inputs), place, folder, to.send)


@contextmanager
def _temporary_folder() -> Iterator[Path]:
    # The memory pool that pyarrow chooses by default reserves a gigabyte.
    os.environ["ARROW_DEFAULT_MEMORY_POOL"] = "system"
    home = "/dev/shm" if Path("/dev/shm").is_dir() else None
    with tempfile.TemporaryDirectory(prefix="readagain-fuzz-", dir=home) as folder:
        yield Path(folder)


def _feed_all(
    target: str,
    seed: int,
    indices: range,
    place: mmap.mmap | bytearray,
    folder: Path,
    send: Callable[[object], object],
) -> None:
    chosen = {**TARGETS, **CARELESS}[target]
    seeds, read = chosen.seeds(), chosen.begin(folder)
    with suppress(ReadAgainError):  # so that what libraries map on first use is not counted
        read(seeds[0])
    with _limited_memory():
        _feed_each(read, seeds, target, seed, indices, place, send)


def _feed_each(
    read: Callable[[bytes], object],
    seeds: list[bytes],
    target: str,
    seed: int,
    indices: range,
    place: mmap.mmap | bytearray,
    send: Callable[[object], object],
) -> None:
    refused, slowest_s, limited_at = 0, 0.0, float("-inf")
    for index in indices:
        place[:] = index.to_bytes(8, "little")
        if time.monotonic() > limited_at + 1:  # not for each input, which would take longer
            faulthandler.dump_traceback_later(HANG_S, exit=True)
            limited_at = time.monotonic()
        data = mutated(seeds, target, seed, index)
        began = time.process_time()
        try:
            read(data)
        except ReadAgainError as error:
            refused += 1
            try:
                check_message(str(error))
            except AssertionError as broken:
                send(Broken(target, index, f"no line for a person: {broken}"))
        except BaseException:  # the outermost edge: told, with everything there is to know
            send(Broken(target, index, traceback.format_exc()))
        took_s = time.process_time() - began
        most_s = SECONDS_PER_10_KB * max(1.0, len(data) / 10_000)
        if took_s > most_s:  # once more: on a shared machine a moment's halt counts as work
            took_s = min(took_s, _seconds(read, data))
        slowest_s = max(slowest_s, took_s)
        if took_s > most_s:
            send(Broken(target, index, f"{took_s:.1f} s for {len(data):,} bytes"))
    faulthandler.cancel_dump_traceback_later()
    send((refused, slowest_s))


def _seconds(read: Callable[[bytes], object], data: bytes) -> float:
    """Return the processor time that an input takes, whatever comes of it."""
    began = time.process_time()
    with suppress(BaseException):
        read(data)
    return time.process_time() - began


@contextmanager
def _limited_memory() -> Iterator[None]:
    """Raise MemoryError for allocations far beyond the memory in use at the start.

    The limit ends with the target: the next one may import large libraries, such as torch.
    """
    status = Path("/proc/self/status").read_text()
    (used_kb,) = (line.split()[1] for line in status.splitlines() if line.startswith("VmSize:"))
    limit = int(used_kb) * 1024 + MEMORY_BYTES
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (limit, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)
