"""`python tests/fuzz`: a long run, or a repetition of one input."""

import argparse
import os
import platform
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

from fuzzing.mutate import mutated
from fuzzing.targets import TARGETS
from fuzzing.watch import Broken, Outcome, watched


def main() -> int:
    """Feed targets, print a table of counts, keep the inputs that broke something."""
    options = _options()
    sys.stdout.reconfigure(errors="backslashreplace")  # inputs are anything
    names = options.targets or list(TARGETS)
    total = sum(TARGETS[name].weight for name in names)
    share = {name: max(1, options.inputs * TARGETS[name].weight // total) for name in names}
    print(f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC, Python {platform.python_version()}, ", end="")
    print(f"{os.cpu_count()} processors, seed {options.seed}", flush=True)
    began = time.monotonic()

    def feed(name: str) -> Outcome:
        found = watched(name, seed=options.seed, first=options.first, inputs=share[name])
        print(_line(found), flush=True)
        return found

    with ThreadPoolExecutor(options.workers) as pool:
        outcomes = list(pool.map(feed, names))
    inputs, seconds = sum(each.inputs for each in outcomes), time.monotonic() - began
    broken = [each for outcome in outcomes for each in outcome.broken]
    refused = sum(each.refused for each in outcomes)
    print(f"{inputs:,} inputs in {seconds / 60:.1f} minutes, {refused:,} refused, ", end="")
    print(f"{len(broken):,} broke a promise", flush=True)
    for each in broken:
        _show(each, options.seed, options.keep)
    return 1 if broken else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python tests/fuzz", description=__doc__)
    parser.add_argument("targets", nargs="*", choices=[[], *TARGETS], help="default: all")
    parser.add_argument("--inputs", type=int, default=1_000_000, help="of all targets together")
    parser.add_argument("--first", type=int, default=0, help="number of the first input")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=1, help="targets fed side by side")
    parser.add_argument("--keep", type=Path, help="folder for inputs that broke a promise")
    return parser.parse_args()


def _line(outcome: Outcome) -> str:
    return (
        f"{outcome.target:<20}{outcome.inputs:>10,} inputs {outcome.refused:>10,} refused "
        f"{outcome.slowest_s:>8.3f} s at most {len(outcome.broken):>4} broken"
    )


def _show(broken: Broken, seed: int, keep: Path | None) -> None:
    again = f"python tests/fuzz {broken.target} --seed {seed} --first {broken.index} --inputs 1"
    print(f"\n{again}\n{broken.what}")
    if keep is not None:
        keep.mkdir(parents=True, exist_ok=True)
        content = mutated(TARGETS[broken.target].seeds(), broken.target, seed, broken.index)
        (keep / f"{broken.target}-{seed}-{broken.index}").write_bytes(content)


if __name__ == "__main__":
    sys.exit(main())
