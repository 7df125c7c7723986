"""Runner that calls a target with mutated inputs and limits the time and memory of each call."""

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

from fuzzing.faulty_targets import FAULTY_TARGETS
from fuzzing.messages import check_message
from fuzzing.mutate import make_input
from fuzzing.targets import TARGETS, InputReader
from readagain.errors import ReadAgainError

MAX_SECONDS_PER_10_KB = 1.0
"""Maximum processor time for an input; inputs below 10 KB may take as long as 10 KB."""
HANG_TIMEOUT_S = 60
"""Time without progress after which the process is stopped, with a traceback."""
MAX_EXTRA_BYTES = 1 << 30
"""Maximum memory that the inputs, of at most 20 KB each, may add to that of the libraries."""
MAX_FAILURES = 20
"""Number of failures after which `fuzz_in_child` starts no new child process."""


@dataclass(frozen=True)
class Failure:
    """An input on which a target failed."""

    target: str
    index: int
    """Number of the input (see `make_input`)."""
    reason: str


@dataclass(frozen=True)
class InputStats:
    """Statistics of the inputs that one process has run."""

    num_rejected: int
    """Number of inputs that raised a `ReadAgainError`."""
    max_seconds: float
    """Processor time of the slowest input."""


@dataclass(frozen=True)
class FuzzResult:
    """Result of a number of inputs of a target."""

    target: str
    num_inputs: int
    num_rejected: int
    max_seconds: float
    failures: tuple[Failure, ...]


Report = Callable[[Failure | InputStats], object]
"""Function that receives each failure and, after the last input, the statistics."""


def fuzz_in_child(target: str, *, seed: int, first: int, num_inputs: int) -> FuzzResult:
    """Run the inputs from number `first` on in a child process.

    If an input crashes the child process, a new one continues with the next input.
    """
    context = multiprocessing.get_context("spawn")
    num_done, num_rejected, max_seconds = 0, 0, 0.0
    failures: list[Failure] = []
    with tempfile.NamedTemporaryFile() as index_file:
        index_file.write(bytes(8))
        index_file.flush()
        while num_done < num_inputs and len(failures) < MAX_FAILURES:
            receiver, sender = context.Pipe(duplex=False)
            indices = range(first + num_done, first + num_inputs)
            child = context.Process(
                target=_run_in_child, args=(target, seed, indices, index_file.name, sender)
            )
            child.start()
            sender.close()
            try:
                while True:
                    message = receiver.recv()
                    if isinstance(message, Failure):
                        failures.append(message)
                    else:
                        num_rejected += message.num_rejected
                        max_seconds = max(max_seconds, message.max_seconds)
            except EOFError:  # the child process has ended
                child.join()
            last_index = int.from_bytes(Path(index_file.name).read_bytes(), "little")
            if child.exitcode:
                reason = f"the process exited with {child.exitcode}"
                failures.append(Failure(target, last_index, reason))
            num_done = last_index + 1 - first
    return FuzzResult(target, num_done, num_rejected, max_seconds, tuple(failures))


def fuzz_in_process(target: str, *, seed: int, num_inputs: int) -> FuzzResult:
    """Run the first inputs of a target in this process."""
    messages: list[Failure | InputStats] = []
    with _temporary_folder() as folder:
        _run_inputs(target, seed, range(num_inputs), bytearray(8), folder, messages.append)
    failures = tuple(message for message in messages if isinstance(message, Failure))
    (stats,) = (message for message in messages if isinstance(message, InputStats))
    return FuzzResult(target, num_inputs, stats.num_rejected, stats.max_seconds, failures)


def _run_in_child(
    target: str, seed: int, indices: range, index_path: str, sender: Connection
) -> None:
    """Run inputs and write the number of the current one to a file, which survives a crash."""
    with (
        _temporary_folder() as folder,
        Path(index_path).open("r+b") as file,
        mmap.mmap(file.fileno(), 8) as current_index,
    ):
        _run_inputs(target, seed, indices, current_index, folder, sender.send)


@contextmanager
def _temporary_folder() -> Iterator[Path]:
    """Yield a folder in memory if possible, since targets write each input to a file."""
    # The memory pool that pyarrow uses by default reserves a gigabyte.
    os.environ["ARROW_DEFAULT_MEMORY_POOL"] = "system"
    parent = "/dev/shm" if Path("/dev/shm").is_dir() else None
    with tempfile.TemporaryDirectory(prefix="readagain-fuzz-", dir=parent) as folder:
        yield Path(folder)


def _run_inputs(
    name: str,
    seed: int,
    indices: range,
    current_index: mmap.mmap | bytearray,
    folder: Path,
    report: Report,
) -> None:
    """Run the inputs with the numbers `indices`, with a limit on memory."""
    target = {**TARGETS, **FAULTY_TARGETS}[name]
    seed_inputs, read = target.seed_inputs(), target.make_reader(folder)
    # The first call of a library allocates memory, which must not count for the limit.
    with suppress(ReadAgainError):
        read(seed_inputs[0])
    num_rejected, max_seconds, timer_start = 0, 0.0, float("-inf")
    with _limited_memory():
        for index in indices:
            current_index[:] = index.to_bytes(8, "little")
            # Restart the timer once a second; restarting it for each input would take longer than
            # the input.
            if time.monotonic() > timer_start + 1:
                faulthandler.dump_traceback_later(HANG_TIMEOUT_S, exit=True)
                timer_start = time.monotonic()
            data = make_input(seed_inputs, name, seed, index)
            is_rejected, seconds, reasons = _run_input(read, data)
            num_rejected += is_rejected
            max_seconds = max(max_seconds, seconds)
            for reason in reasons:
                report(Failure(name, index, reason))
        faulthandler.cancel_dump_traceback_later()
    report(InputStats(num_rejected, max_seconds))


def _run_input(read: InputReader, data: bytes) -> tuple[bool, float, list[str]]:
    """Run one input.

    Returns:
        Whether the input was rejected with a `ReadAgainError`, its processor time in seconds, and
        the reasons why it is a failure.
    """
    is_rejected, reasons = False, []
    start = time.process_time()
    try:
        read(data)
    except ReadAgainError as error:
        is_rejected = True
        try:
            check_message(str(error))
        except AssertionError as problem:
            reasons.append(f"invalid error message: {problem}")
    except BaseException:  # any other exception is a failure, also SystemExit
        reasons.append(traceback.format_exc())
    seconds = time.process_time() - start
    limit_s = MAX_SECONDS_PER_10_KB * max(1.0, len(data) / 10_000)
    if seconds > limit_s:  # measure again, since a busy machine can increase processor time
        start = time.process_time()
        with suppress(BaseException):
            read(data)
        seconds = min(seconds, time.process_time() - start)
    if seconds > limit_s:
        reasons.append(f"{seconds:.1f} s for {len(data):,} bytes")
    return is_rejected, seconds, reasons


@contextmanager
def _limited_memory() -> Iterator[None]:
    """Raise MemoryError if this process allocates `MAX_EXTRA_BYTES` more than it has now.

    The limit is removed at the end, because the next target may import a large library.
    """
    status = Path("/proc/self/status").read_text()
    (used_kb,) = (line.split()[1] for line in status.splitlines() if line.startswith("VmSize:"))
    limit = int(used_kb) * 1024 + MAX_EXTRA_BYTES
    soft_limit, hard_limit = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (limit, hard_limit))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft_limit, hard_limit))
