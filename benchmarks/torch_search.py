"""Sentences per second of beam search with torch: one search at a time, and several in parallel.

    python benchmarks/torch_search.py                         # on a GPU if there is one
    python benchmarks/torch_search.py --preset tiny --sentences 64 --threads 1 2

A search alternates between a decoder step on the device and the selection of hypotheses on the
CPU, so one of them is always idle. Parallel searches keep both busy. Weights are random, sources
have 31 words, summaries 10 words, and the beam size is 10.
"""

import argparse
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import torch

from readagain.networks.build import build_model
from readagain.networks.step_model import TorchStepModel
from readagain.presets import PRESETS
from readagain.search.beam import beam_search
from readagain.search.constraints import LengthConstraint
from readagain.search.model import SourceBatch
from readagain.text.vocab import SPECIAL_TOKENS

SOURCE_WORDS = 31
SUMMARY_LENGTH = LengthConstraint(minimum=10, maximum=10)
BEAM_SIZE = 10


def main() -> None:
    """Print sentences per second, and the ratio to the first number of threads."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--preset", default="read_again_lstm_copy_15k")
    parser.add_argument(
        "--sentences", type=int, default=2048, help="number of sentences per search"
    )
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--searches", type=int, default=4, help="number of searches per thread")
    arguments = parser.parse_args()
    on_gpu = torch.cuda.is_available()
    torch.set_float32_matmul_precision("high")
    run = PRESETS[arguments.preset]
    model = build_model(run).eval()
    model = model.cuda().bfloat16() if on_gpu else model
    rng = np.random.default_rng(0)

    def random_batch() -> SourceBatch:
        size = (arguments.sentences, SOURCE_WORDS)
        return SourceBatch(
            source_ids=rng.integers(len(SPECIAL_TOKENS), run.source_vocab_size, size)[:, None],
            lengths=np.full((arguments.sentences, 1), SOURCE_WORDS),
            source_ext_ids=rng.integers(len(SPECIAL_TOKENS), run.vocab_size, size),
        )

    def search(batch: SourceBatch) -> None:
        beam_search(TorchStepModel(model), batch, beam_size=BEAM_SIZE, length=SUMMARY_LENGTH)

    print(torch.cuda.get_device_name() if on_gpu else f"CPU, {torch.get_num_threads()} threads")
    search(random_batch())  # warm-up
    first_rate = None
    for threads in arguments.threads:
        batches = [random_batch() for _ in range(threads * arguments.searches)]
        with ThreadPoolExecutor(threads) as pool:
            start = time.perf_counter()
            list(pool.map(search, batches))
            rate = len(batches) * arguments.sentences / (time.perf_counter() - start)
        first_rate = first_rate or rate
        print(
            f"{arguments.preset}, {threads} at once, {arguments.sentences} sentences each: "
            f"{rate:,.0f} sentences/s, {rate / first_rate:.2f} times the first"
        )


if __name__ == "__main__":
    main()
