"""Measurement of decoding time by size of the decoder vocabulary (Table 4 of the paper).

Exported graphs are measured on the CPU. The weights are random, since speed does not depend on
them. The summaries have a fixed length, so every network decodes the same number of words.
"""

import json
import statistics
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import torch

from readagain.config.override import override
from readagain.config.schema import RunSpec
from readagain.engine.onnx_model import OnnxStepModel
from readagain.engine.summarizer import Summarizer
from readagain.experiments.catalog import EXPERIMENTS, paper_table
from readagain.experiments.options import Scale
from readagain.experiments.results import BATCH_SIZES, TIMING_FILE
from readagain.experiments.sample_corpus import TIMING_SENTENCES
from readagain.experiments.settings import experiment_network
from readagain.export.write import build_graphs
from readagain.model_dir import PRECISIONS, Precision
from readagain.networks.build import build_model
from readagain.processors import describe_machine
from readagain.storage.files import write_text
from readagain.text.document import sentence_norms
from readagain.text.vocab import SPECIAL_TOKENS, Vocab

_SUMMARY_WORDS = 8  # mean length of the paper's summaries (8.3), rounded
_SOURCE_VOCAB_SIZE = 5_000  # the size does not change the speed
_OOV_INTERVAL = 10
"""Every tenth word of the texts is out of vocabulary."""
_SMALL_TEXTS = 4
"""Number of texts at the scale `small`."""


def measure_timing(out: Path, *, scale: Scale, threads: int) -> None:
    """Measure the decoding time of all rows of Table 4 and write `timing.json`."""
    out.mkdir(parents=True, exist_ok=True)
    texts = TIMING_SENTENCES if scale == "paper" else TIMING_SENTENCES[:_SMALL_TEXTS]
    repeat = 3 if scale == "paper" else 1
    measured: list[dict[str, Any]] = []
    for row in paper_table("table4"):
        for size in row.seconds:
            run = override(
                experiment_network(EXPERIMENTS[f"{row.experiment}_{size.lower()}"], scale=scale),
                {
                    "source_vocab_size": _SOURCE_VOCAB_SIZE,
                    "decode.min_words": _SUMMARY_WORDS,
                    "decode.max_words": _SUMMARY_WORDS,
                },
            )
            measured += [
                {"row": row.experiment, "size": size, "precision": precision, "ms_per_text": times}
                for precision, times in _measure_run(run, texts, threads, repeat=repeat)
            ]
    timing = {
        "scale": scale,
        "machine": describe_machine(),
        "threads": threads,
        "beam": run.decode.beam_size,
        "summary_words": _SUMMARY_WORDS,
        "texts": len(texts),
        "measured": measured,
    }
    write_text(out / TIMING_FILE, json.dumps(timing, indent=1) + "\n")


def _measure_run(
    run: RunSpec, texts: Sequence[str], threads: int, *, repeat: int
) -> Iterator[tuple[Precision, dict[str, float]]]:
    """Yield each precision with the milliseconds per text by batch size."""
    torch.manual_seed(0)
    weights = {name: tensor.numpy() for name, tensor in build_model(run).state_dict().items()}
    vocabs = (_invent_vocab(texts, run.source_vocab_size), _invent_vocab(texts, run.vocab_size))
    for precision, graphs in build_graphs(run, weights, PRECISIONS).items():
        model = OnnxStepModel.open(*graphs, threads=threads)
        summarizer = Summarizer(run, *vocabs, model)
        yield precision, _measure_ms_per_text(summarizer, texts, repeat=repeat)


def _measure_ms_per_text(
    summarizer: Summarizer, texts: Sequence[str], *, repeat: int
) -> dict[str, float]:
    """Return the median of the milliseconds per text, by batch size."""
    num_copies = -(-max(BATCH_SIZES) // len(texts))  # rounded up
    texts = list(texts) * num_copies
    summarizer.summarize(texts)  # warm-up, not measured
    seconds: dict[int, list[float]] = {size: [] for size in BATCH_SIZES}
    for _ in range(repeat):
        for size in BATCH_SIZES:
            start = time.perf_counter()
            for first in range(0, len(texts), size):
                summarizer.summarize(texts[first : first + size])
            seconds[size].append(time.perf_counter() - start)
    return {
        str(size): 1e3 * statistics.median(times) / len(texts) for size, times in seconds.items()
    }


def _invent_vocab(texts: Sequence[str], size: int) -> Vocab:
    """Return a vocabulary of `size` words: nine of ten words of the texts, then invented words."""
    num_words = size - len(SPECIAL_TOKENS)
    distinct_words = dict.fromkeys(
        word for text in texts for sentence in sentence_norms(text) for word in sentence
    )
    words = [word for index, word in enumerate(distinct_words) if index % _OOV_INTERVAL]
    words = words[:num_words]
    invented = [f"filler{number}" for number in range(num_words - len(words))]
    return Vocab([*SPECIAL_TOKENS, *words, *invented])
