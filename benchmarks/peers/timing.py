"""Options and timing that the scripts of all peers share."""

import argparse
import json
import time
from collections.abc import Callable

CLOCKS = {"wall": time.perf_counter, "processor": time.process_time}


def parse_options(parser: argparse.ArgumentParser) -> argparse.Namespace:
    """Parse the options of every script; `benchmarks/decoding.py` sets all of them."""
    parser.add_argument("--together", type=int, nargs="+", required=True, help="batch sizes")
    for name in ("source-tokens", "summary-tokens", "beam", "threads", "repeat"):
        parser.add_argument(f"--{name}", type=int, required=True)
    parser.add_argument("--clock", choices=CLOCKS, required=True)
    return parser.parse_args()


def report(
    version: str, options: argparse.Namespace, *variants: Callable[[int], Callable[[], set[int]]]
) -> None:
    """Print the best seconds per sentence for each batch size, as JSON.

    Args:
        version: name and version of the peer.
        options: options of `parse_options`.
        variants: ways to run the model, of which the fastest counts. Each is a function that takes
            a batch size and returns another function. That function summarizes a batch and returns
            the set of the lengths of the summaries, in tokens.
    """
    seconds = {}
    clock = CLOCKS[options.clock]
    for batch_size in options.together:
        times = []
        for prepare in variants:
            summarize = prepare(batch_size)
            for turn in range(options.repeat + 1):
                start = clock()
                lengths = summarize()
                if turn:  # the first call warms up
                    times.append(clock() - start)
            if lengths != {options.summary_tokens}:
                raise SystemExit(
                    f"summaries of {lengths} tokens; expected {options.summary_tokens}"
                )
        seconds[batch_size] = min(times) / batch_size
    print(json.dumps({"version": version, "seconds": seconds}))
