"""Command line of the fuzzer: `python tests/fuzz`."""

import argparse
import os
import platform
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

from fuzzing.mutate import make_input
from fuzzing.runner import Failure, FuzzResult, fuzz_in_child
from fuzzing.targets import TARGETS


def main() -> int:
    """Fuzz the targets, print statistics and failures, and return the exit status."""
    options = _parse_arguments()
    # Tracebacks may contain any character of an input.
    sys.stdout.reconfigure(errors="backslashreplace")
    names = options.targets or list(TARGETS)
    total_weight = sum(TARGETS[name].weight for name in names)
    print(f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC, Python {platform.python_version()}, ", end="")
    print(f"{os.cpu_count()} processors, seed {options.seed}", flush=True)
    start = time.monotonic()

    def fuzz_target(name: str) -> FuzzResult:
        num_inputs = max(1, options.inputs * TARGETS[name].weight // total_weight)
        result = fuzz_in_child(name, seed=options.seed, first=options.first, num_inputs=num_inputs)
        print(_describe_result(result), flush=True)
        return result

    with ThreadPoolExecutor(options.workers) as pool:
        results = list(pool.map(fuzz_target, names))
    minutes = (time.monotonic() - start) / 60
    num_inputs = sum(result.num_inputs for result in results)
    num_rejected = sum(result.num_rejected for result in results)
    failures = [failure for result in results for failure in result.failures]
    print(f"{num_inputs:,} inputs in {minutes:.1f} minutes, {num_rejected:,} rejected, ", end="")
    print(f"{len(failures):,} failures", flush=True)
    for failure in failures:
        _print_failure(failure, options.seed)
        if options.failures_dir is not None:
            _save_input(failure, options.seed, options.failures_dir)
    return 1 if failures else 0


def _parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python tests/fuzz", description="Fuzz the functions that read untrusted bytes."
    )
    parser.add_argument(
        "targets", nargs="*", choices=[[], *TARGETS], help="target names (default: all)"
    )
    parser.add_argument(
        "--inputs", type=int, default=1_000_000, help="inputs of all targets (default: %(default)s)"
    )
    parser.add_argument("--first", type=int, default=0, help="number of the first input")
    parser.add_argument("--seed", type=int, default=1, help="random seed (default: %(default)s)")
    parser.add_argument(
        "--workers", type=int, default=1, help="targets at the same time (default: %(default)s)"
    )
    parser.add_argument("--failures-dir", type=Path, help="folder for the inputs that failed")
    return parser.parse_args()


def _describe_result(result: FuzzResult) -> str:
    return (
        f"{result.target:<20}{result.num_inputs:>10,} inputs {result.num_rejected:>10,} rejected "
        f"{result.max_seconds:>8.3f} s at most {len(result.failures):>4} failures"
    )


def _print_failure(failure: Failure, seed: int) -> None:
    """Print the reason of a failure, and the command that repeats its input."""
    command = f"python tests/fuzz {failure.target} --seed {seed} --first {failure.index} --inputs 1"
    print(f"\n{command}\n{failure.reason}")


def _save_input(failure: Failure, seed: int, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    seed_inputs = TARGETS[failure.target].seed_inputs()
    content = make_input(seed_inputs, failure.target, seed, failure.index)
    (folder / f"{failure.target}-{seed}-{failure.index}").write_bytes(content)


if __name__ == "__main__":
    sys.exit(main())
