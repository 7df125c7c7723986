"""Speed of training compared with a simple eager loop of the same network.

    python benchmarks/training.py                       # GPU if there is one, else CPU
    python benchmarks/training.py --data PREPARED --preset read_again_lstm_copy_15k --batch 2048
    python benchmarks/training.py --cpu --preset tiny --batch 64

An update includes gathering the batch from the corpus, loss, gradient, clipping, optimizer and
moving average. Without --data the words are random, and lengths are distributed as in news
(texts: mean 27.6 words, deviation 9.5; headlines: 11.6 and 3.2).

The simple loop has the same network and optimizer. It uses torch's own layers, loss and casts, and
no CUDA graphs. In the first comparison its batches are shuffled pairs, padded to the longest pair.
In the second comparison its batches are the same as ours.

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
from readagain.corpus.shards import CorpusShard, CorpusSplit, PreparedCorpus
from readagain.networks import dispatch
from readagain.networks.build import build_model
from readagain.presets import PRESETS
from readagain.text.vocab import SPECIAL_TOKENS, UNK
from readagain.training import step as training_step
from readagain.training.batch import Bucket
from readagain.training.dataset import BatchPlan, TrainingDataset
from readagain.training.parallel import set_threads
from readagain.training.step import TrainingStep

LEXICON_SIZE = 200_000


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
        print(f"peak of bfloat16 products, 8192 wide: {_measure_peak() / 1e12:.0f} TFLOP/s")
    split = _make_random_split() if arguments.data is None else _read_split(arguments.data)
    presets = arguments.preset or (["read_again_lstm_copy_15k"] if on_gpu else ["tiny"])
    for preset in presets:
        for batch_size in arguments.batch or ([64, 2048] if on_gpu else [64]):
            _compare(preset, batch_size, arguments.recipe, split, device, arguments.seconds)


def _compare(
    preset: str,
    batch_size: int,
    recipe: str,
    split: CorpusSplit,
    device: torch.device,
    seconds: float,
) -> None:
    """Print the pairs per second of our training and of the simple loop, for one preset."""
    run = replace(
        PRESETS[preset],
        train=replace(RECIPES[recipe], batch_size=batch_size, precision="bfloat16"),
    )
    if device.type == "cpu":
        set_threads(run, 0)
    dataset = _make_dataset(run, split, device)
    our_batches = dataset.plan_epoch(epoch=0, batch_size=batch_size, seed=1)
    shuffled_batches = _plan_shuffled_batches(dataset, batch_size)
    our_rate = _measure_rate(run, dataset, our_batches, device, seconds, use_graphs=True)
    with _simple_loop():
        simple_rate = _measure_rate(
            run, dataset, shuffled_batches, device, seconds, use_graphs=False
        )
        same_batches_rate = _measure_rate(
            run, dataset, our_batches, device, seconds, use_graphs=False
        )
    flops = 6 * _count_multiply_adds(run, dataset) * our_rate
    print(
        f"{preset}, batch {batch_size}, {recipe}: {our_rate:,.0f} pairs/s; plain eager "
        f"{simple_rate:,.0f}, ratio {our_rate / simple_rate:.1f}; on our batches "
        f"{same_batches_rate:,.0f}, ratio {our_rate / same_batches_rate:.1f}; "
        f"{flops / 1e12:.2f} model TFLOP/s"
    )


def _plan_shuffled_batches(dataset: TrainingDataset, batch_size: int) -> list[BatchPlan]:
    """Divide shuffled pairs into batches, each padded to its longest pair."""
    order = torch.from_numpy(np.random.default_rng(1).permutation(len(dataset)))
    plans = []
    for pairs in torch.split(order.to(dataset.words.device), batch_size):
        source_words = int(dataset.sentence_lengths[pairs].max())
        summary_words = int(dataset.summary_lengths[pairs].max())
        plans.append(BatchPlan(pairs, Bucket(source_words, summary_words)))
    return plans


def _measure_rate(
    run: RunSpec,
    dataset: TrainingDataset,
    plans: list[BatchPlan],
    device: torch.device,
    seconds: float,
    *,
    use_graphs: bool,
) -> float:
    """Train for some seconds after a warm-up; return the pairs per second.

    With CUDA graphs, the warm-up has one batch of each shape, since each shape is captured once.
    """
    torch.manual_seed(0)
    model = build_model(run).to(device)
    batch_size = run.train.batch_size
    step = TrainingStep(model, run.train, total_steps=len(plans), steps_per_epoch=len(plans))
    step.uses_graphs = step.uses_graphs and use_graphs
    plan_by_bucket = {plan.bucket: plan for plan in plans}
    for plan in plan_by_bucket.values() if step.uses_graphs else plans[:3]:
        step.update(dataset.local_batch(plan, batch_size=batch_size))
    _wait(device)
    # Training does not wait for the device after an update. The measurement must wait before it
    # reads the clock, so it does so only after many updates.
    updates_per_wait = max(1, 65_536 // batch_size) if step.uses_graphs else 4
    start, num_pairs, num_updates = time.perf_counter(), 0, 0
    while (elapsed := time.perf_counter() - start) < seconds:
        for _ in range(updates_per_wait):
            plan = plans[num_updates % len(plans)]
            step.update(dataset.local_batch(plan, batch_size=batch_size))
            num_pairs += len(plan.pairs)
            num_updates += 1
        _wait(device)
    return num_pairs / elapsed


@contextmanager
def _simple_loop() -> Iterator[None]:
    """Replace our kernels, loss, casts and embedding updates by torch's own during the block."""

    def never(*_: object, **__: object) -> bool:
        return False

    def call_model(_: torch.dtype, model: torch.nn.Module, *inputs: object) -> torch.Tensor:
        return model(*inputs)

    with (
        patch.object(training_step, "supports_row_updates", never),
        patch.object(training_step, "call_in_precision", call_model),
        patch.object(dispatch, "can_use_kernels", never),
    ):
        yield


def _count_multiply_adds(run: RunSpec, dataset: TrainingDataset) -> float:
    """Count the multiply-adds of the matrix products of a mean pair, from the sizes of weights."""
    model = build_model(run)
    per_source_word, per_summary_word = 0, 0
    for name, weight in model.named_parameters():
        if weight.dim() < 2 or "embedding" in name:
            continue
        is_for_source = name.startswith(("encoder", "copy_scores", "previous_words.copied"))
        if is_for_source or name == "decoder.key.weight":
            per_source_word += weight.numel()
        elif not name.startswith("decoder.begin"):
            per_summary_word += weight.numel()
    source_words = float(dataset.sentence_lengths.sum(1).float().mean())
    summary_words = float(dataset.summary_lengths.float().mean()) + 1  # and the end token
    return per_source_word * source_words + per_summary_word * summary_words


def _make_dataset(run: RunSpec, split: CorpusSplit, device: torch.device) -> TrainingDataset:
    def ids_by_lexicon_id(vocab_size: int) -> np.ndarray:
        ids = np.arange(LEXICON_SIZE + 1) + len(SPECIAL_TOKENS)
        return np.where(ids < vocab_size, ids, UNK)

    return TrainingDataset(
        split,
        source_id_by_lexicon_id=ids_by_lexicon_id(run.source_vocab_size),
        summary_id_by_lexicon_id=ids_by_lexicon_id(run.vocab_size),
        vocab_size=run.vocab_size,
        data=run.data,
        device=device,
    )


def _read_split(folder: Path) -> CorpusSplit:
    """Read the train split of a corpus; rarer words than `LEXICON_SIZE` become one word."""
    split = PreparedCorpus.open(folder).split("train")
    shards = [
        replace(shard, words=np.minimum(shard.words, LEXICON_SIZE - 1)) for shard in split.shards
    ]
    return CorpusSplit("train", tuple(shards))


def _make_random_split(num_pairs: int = 200_000) -> CorpusSplit:
    """Return pairs of random words with the lengths of news; each pair has two segments."""
    rng = np.random.default_rng(0)

    def random_lengths(mean: float, deviation: float, maximum: int) -> np.ndarray:
        lengths = rng.normal(mean, deviation, num_pairs).round()
        return np.clip(lengths, 4, maximum).astype(np.int64)

    text_lengths, headline_lengths = random_lengths(27.6, 9.5, 60), random_lengths(11.6, 3.2, 24)
    segment_lengths = np.stack([text_lengths, headline_lengths], axis=1).ravel()
    words = (rng.pareto(1.0, segment_lengths.sum()) * 20).astype(np.int64) % LEXICON_SIZE
    shard = CorpusShard(
        words=words.astype(np.int32),
        segments=np.concatenate([[0], np.cumsum(segment_lengths)]),
        pairs=np.arange(num_pairs + 1) * 2,
        origins=np.zeros(num_pairs, np.uint16),
    )
    return CorpusSplit("train", (shard,))


def _wait(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize()


def _measure_peak(width: int = 8192, repeats: int = 10) -> float:
    """Return the FLOP/s of the GPU for products of random bfloat16 matrices."""
    left, right = torch.randn(2, width, width, device="cuda", dtype=torch.bfloat16).unbind()
    for _ in range(3):  # warm-up
        left @ right
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record()
    for _ in range(repeats):
        left @ right
    end.record()
    torch.cuda.synchronize()
    return 2 * width**3 * repeats / (start.elapsed_time(end) / 1000)


if __name__ == "__main__":
    main()
