"""Speed of training compared with a simple eager loop of the same network.

    python benchmarks/training.py                       # GPU if there is one, else CPU
    python benchmarks/training.py --data PREPARED --preset read_again_lstm_copy_15k --batch 2048
    python benchmarks/training.py --cpu --preset tiny --batch 64

An update includes gathering the batch from the corpus, loss, gradient, clipping, optimizer and
moving average. Without --data the words are random, and lengths are distributed as in news
(texts: mean 27.6 words, deviation 9.5; headlines: 11.6 and 3.2). The simple loop has the same
network and optimizer, and uses torch's own layers, loss and casts, without CUDA graphs; its
batches are shuffled pairs padded to the longest pair, or, in the second comparison, the same
batches as ours.
Model FLOP/s count the matrix products of words without padding, times three for the gradient.
"""

import argparse
import platform
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import numpy as np
import torch

from readagain.config.schema import RECIPES, RunSpec
from readagain.corpus.shards import CorpusShard, PreparedCorpus, Split
from readagain.networks import dispatch
from readagain.networks.build import build_model
from readagain.presets import PRESETS
from readagain.training import step as training_step
from readagain.training.batch import Bucket
from readagain.training.dataset import BatchPlan, TrainingDataset
from readagain.training.parallel import set_threads
from readagain.training.step import TrainingStep

LEXICON_SIZE = 200_000
RESERVED = 4


def main() -> None:
    """Print the pairs per second of our training and of the simple loop."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="prepared corpus; its lengths are used")
    parser.add_argument("--preset", nargs="+", default=None)
    parser.add_argument("--batch", type=int, nargs="+", default=None)
    parser.add_argument("--recipe", choices=sorted(RECIPES), default="modern")
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--cpu", action="store_true")
    arguments = parser.parse_args()
    on_gpu = torch.cuda.is_available() and not arguments.cpu
    device = torch.device("cuda" if on_gpu else "cpu")
    torch.set_float32_matmul_precision("high")
    name = torch.cuda.get_device_name() if on_gpu else platform.processor() or "CPU"
    print(f"{name}, torch {torch.__version__}, {torch.get_num_threads()} threads")
    if on_gpu:
        print(f"peak of bfloat16 products, 8192 wide: {_peak() / 1e12:.0f} TFLOP/s")
    split = _news_like() if arguments.data is None else _opened(arguments.data)
    presets = arguments.preset or (["read_again_lstm_copy_15k"] if on_gpu else ["tiny"])
    for preset in presets:
        for batch_size in arguments.batch or ([64, 2048] if on_gpu else [64]):
            _compare(preset, batch_size, arguments.recipe, split, device, arguments.seconds)


def _compare(
    preset: str,
    batch_size: int,
    recipe: str,
    split: Split,
    device: torch.device,
    seconds: float,
) -> None:
    run = replace(
        PRESETS[preset],
        train=replace(RECIPES[recipe], batch_size=batch_size, precision="bfloat16"),
    )
    if device.type == "cpu":
        set_threads(run, 0)
    pairs = _pairs(run, split, device)
    alike = pairs.plan_epoch(epoch=0, batch_size=batch_size, seed=1)
    shuffled = _shuffled(pairs, batch_size)
    ours = _rate(run, pairs, alike, device, seconds, captures=True)
    with _plainly():
        plain = _rate(run, pairs, shuffled, device, seconds, captures=False)
        plain_alike = _rate(run, pairs, alike, device, seconds, captures=False)
    flops = 6 * _products(run, pairs) * ours
    print(
        f"{preset}, batch {batch_size}, {recipe}: {ours:,.0f} pairs/s; plain eager {plain:,.0f}, "
        f"ratio {ours / plain:.1f}; on our batches {plain_alike:,.0f}, "
        f"ratio {ours / plain_alike:.1f}; {flops / 1e12:.2f} model TFLOP/s"
    )


def _shuffled(pairs: TrainingDataset, batch_size: int) -> list[BatchPlan]:
    """Cut shuffled pairs into batches, each padded to its longest."""
    order = torch.from_numpy(np.random.default_rng(1).permutation(len(pairs)))
    plans = []
    for chosen in torch.split(order.to(pairs.words.device), batch_size):
        source_words = int(pairs.sentence_lengths[chosen].max())
        summary_words = int(pairs.summary_lengths[chosen].max())
        plans.append(BatchPlan(chosen, Bucket(source_words, summary_words)))
    return plans


def _rate(
    run: RunSpec,
    pairs: TrainingDataset,
    plans: list[BatchPlan],
    device: torch.device,
    seconds: float,
    *,
    captures: bool,
) -> float:
    """Measure pairs a second, after every shape has been seen once where it is captured."""
    torch.manual_seed(0)
    model = build_model(run).to(device)
    size = run.train.batch_size
    step = TrainingStep(model, run.train, total_steps=len(plans), steps_per_epoch=len(plans))
    step.uses_graphs = step.uses_graphs and captures
    first_of = {plan.bucket: plan for plan in plans}
    for plan in first_of.values() if step.uses_graphs else plans[:3]:
        step.update(pairs.local_batch(plan, batch_size=size))
    _wait(device)
    # Waiting for the device is part of no update, so there are many between two looks at the clock.
    between = max(1, 65_536 // size) if step.uses_graphs else 4
    start, num_pairs, place = time.perf_counter(), 0, 0
    while (elapsed := time.perf_counter() - start) < seconds:
        for _ in range(between):
            plan = plans[place % len(plans)]
            step.update(pairs.local_batch(plan, batch_size=size))
            num_pairs += len(plan.pairs)
            place += 1
        _wait(device)
    return num_pairs / elapsed


@contextmanager
def _plainly() -> Iterator[None]:
    """Leave recurrences, loss, casts and tables to the plain functions, autocast and autograd."""

    def never(*_: object, **__: object) -> bool:
        return False

    def called(_: torch.dtype, model: torch.nn.Module, *inputs: object) -> torch.Tensor:
        return model(*inputs)

    with (
        patch.object(training_step, "supports_row_updates", never),
        patch.object(training_step, "call_in_precision", called),
        patch.object(dispatch, "can_use_kernels", never),
    ):
        yield


def _products(run: RunSpec, pairs: TrainingDataset) -> float:
    """Count multiply-adds of the matrix products of a mean pair, from the weights' sizes."""
    model = build_model(run)
    per_source, per_summary = 0, 0
    for name, weight in model.named_parameters():
        if weight.dim() < 2 or "embedding" in name:
            continue
        on_source = name.startswith(("encoder", "copy_scores", "previous_words.copied"))
        if on_source or name == "decoder.key.weight":
            per_source += weight.numel()
        elif not name.startswith("decoder.begin"):
            per_summary += weight.numel()
    source_words = float(pairs.sentence_lengths.sum(1).float().mean())
    summary_words = float(pairs.summary_lengths.float().mean()) + 1
    return per_source * source_words + per_summary * summary_words


def _pairs(run: RunSpec, split: Split, device: torch.device) -> TrainingDataset:
    def known(size: int) -> np.ndarray:
        ids = np.arange(LEXICON_SIZE + 1) + RESERVED
        return np.where(ids < size, ids, 1)

    return TrainingDataset(
        split,
        encoder_id_by_lexicon_id=known(run.source_vocab_size),
        decoder_id_by_lexicon_id=known(run.vocab_size),
        vocab_size=run.vocab_size,
        data=run.data,
        device=device,
    )


def _opened(folder: Path) -> Split:
    split = PreparedCorpus.open(folder).split("train")
    shards = [
        replace(shard, words=np.minimum(shard.words, LEXICON_SIZE - 1)) for shard in split.shards
    ]
    return Split("train", tuple(shards))


def _news_like(num_pairs: int = 200_000) -> Split:
    draw = np.random.default_rng(0)

    def lengths(mean: float, deviation: float, most: int) -> np.ndarray:
        return np.clip(draw.normal(mean, deviation, num_pairs).round(), 4, most).astype(np.int64)

    segments = np.stack([lengths(27.6, 9.5, 60), lengths(11.6, 3.2, 24)], axis=1).ravel()
    words = (draw.pareto(1.0, segments.sum()) * 20).astype(np.int64) % LEXICON_SIZE
    shard = CorpusShard(
        words=words.astype(np.int32),
        segments=np.concatenate([[0], np.cumsum(segments)]),
        pairs=np.arange(num_pairs + 1) * 2,
        origins=np.zeros(num_pairs, np.uint16),
    )
    return Split("train", (shard,))


def _wait(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize()


def _peak(width: int = 8192, repeats: int = 10) -> float:
    """Measure the card's rate of bfloat16 products on random numbers."""
    left, right = torch.randn(2, width, width, device="cuda", dtype=torch.bfloat16).unbind()
    for _ in range(3):
        left @ right
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record()
    for _ in range(repeats):
        left @ right
    end.record()
    torch.cuda.synchronize()
    return 2 * width**3 * repeats / (begin.elapsed_time(end) / 1000)


if __name__ == "__main__":
    main()
