"""Options and timing for the scripts of the peers."""

import argparse
import json
import time
from collections.abc import Callable

CLOCKS = {"wall": time.perf_counter, "processor": time.process_time}


def parse_options(parser: argparse.ArgumentParser) -> argparse.Namespace:
    """Parse the options of every script; `benchmarks/decoding.py` sets all of them."""
    parser.add_argument("--together", type=int, nargs="+", required=True)
    for name in ("source-tokens", "summary-tokens", "beam", "threads", "repeat"):
        parser.add_argument(f"--{name}", type=int, required=True)
    parser.add_argument("--clock", choices=CLOCKS, required=True)
    return parser.parse_args()


def report(
    version: str, options: argparse.Namespace, *ways: Callable[[int], Callable[[], set[int]]]
) -> None:
    """Print the best seconds per sentence for each batch size, as JSON.

    Args:
        version: the peer's, for the table.
        options: what was asked for.
        ways: to generate; the fastest counts. Each, given how many sentences, returns what
            generates summaries for them and tells their numbers of tokens.
    """
    seconds = {}
    clock = CLOCKS[options.clock]
    for together in options.together:
        taken = []
        for generate in ways:
            write = generate(together)
            for turn in range(options.repeat + 1):
                begin = clock()
                lengths = write()
                if turn:  # the first warms up
                    taken.append(clock() - begin)
            if lengths != {options.summary_tokens}:
                raise SystemExit(
                    f"summaries of {lengths} tokens; expected {options.summary_tokens}"
                )
        seconds[together] = min(taken) / together
    print(json.dumps({"version": version, "seconds": seconds}))
