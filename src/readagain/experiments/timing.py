"""Measurement of decoding time by size of the decoder vocabulary (Table 4 of the paper).

Exported graphs on the CPU. The weights are random, since speed does not depend on them, and
summaries have a fixed length, so that every network takes the same number of steps.
"""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import torch

from readagain.config.override import override
from readagain.config.schema import RunSpec
from readagain.engine.onnx_model import OnnxStepModel
from readagain.engine.speed import SENTENCES, measure_ms_per_text
from readagain.engine.summarizer import Summarizer
from readagain.evaluation.report import write_text
from readagain.experiments.catalog import EXPERIMENTS, paper_table
from readagain.experiments.results import BATCH_SIZES, TIMING_FILE
from readagain.experiments.settings import Scale, experiment_network
from readagain.export.write import build_graphs
from readagain.model_dir import PRECISIONS, Precision
from readagain.networks.build import build_model
from readagain.processors import describe_machine
from readagain.text.document import sentence_norms
from readagain.text.vocab import SPECIAL_TOKENS, Vocab

_SUMMARY_WORDS = 8  # mean length of the paper's summaries (8.3), rounded
_SOURCE_VOCAB = 5_000  # a larger embedding table is not slower
_OOV_EVERY = 10
_SMALL_TEXTS = 4


def measure_timing(out: Path, *, scale: Scale, threads: int) -> None:
    """Measure all sizes and write `timing.json`."""
    out.mkdir(parents=True, exist_ok=True)
    texts = SENTENCES if scale == "paper" else SENTENCES[:_SMALL_TEXTS]
    measured: list[dict[str, Any]] = []
    for row in paper_table("table4"):
        for size in row.seconds:
            run = override(
                experiment_network(EXPERIMENTS[f"{row.experiment}_{size.lower()}"], scale=scale),
                {
                    "source_vocab_size": _SOURCE_VOCAB,
                    "decode.min_words": _SUMMARY_WORDS,
                    "decode.max_words": _SUMMARY_WORDS,
                },
            )
            repeat = 3 if scale == "paper" else 1
            measured += [
                {"row": row.experiment, "size": size, "precision": precision, "ms_per_text": times}
                for precision, times in _measure(run, texts, threads, repeat=repeat)
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


def _measure(
    run: RunSpec, texts: Sequence[str], threads: int, *, repeat: int
) -> Iterator[tuple[Precision, dict[str, float]]]:
    """Yield for each precision the milliseconds per text by batch size."""
    torch.manual_seed(0)
    tensors = {name: each.numpy() for name, each in build_model(run).state_dict().items()}
    vocabs = (_invent_vocab(texts, run.source_vocab_size), _invent_vocab(texts, run.vocab_size))
    for precision, graphs in build_graphs(run, tensors, PRECISIONS).items():
        model = OnnxStepModel.open(*graphs, threads=threads)
        summarizer = Summarizer(run, *vocabs, model)
        times = measure_ms_per_text(summarizer, texts, batch_sizes=BATCH_SIZES, repeat=repeat)
        yield precision, {str(size): ms for size, ms in times.items()}


def _invent_vocab(texts: Sequence[str], size: int) -> Vocab:
    """Return a vocabulary of `size` words: nine of ten words of the texts, then invented words."""
    words = dict.fromkeys(
        word for text in texts for sentence in sentence_norms(text) for word in sentence
    )
    known_words = [word for position, word in enumerate(words) if position % _OOV_EVERY]
    known_words = known_words[: size - len(SPECIAL_TOKENS)]
    fillers = [f"filler{number}" for number in range(size - len(SPECIAL_TOKENS) - len(known_words))]
    return Vocab([*SPECIAL_TOKENS, *known_words, *fillers])
