"""Table 4: seconds per sentence against the decoder's vocabulary, with exported graphs on a CPU.

Weights are random, since speed does not ask what was learned, and summaries are held to a fixed
number of words, so that every network takes the same steps.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from readagain.config.override import override
from readagain.config.schema import RunSpec
from readagain.engine.onnx_model import OnnxStepModel
from readagain.engine.speed import SENTENCES, measure_speed
from readagain.engine.summarizer import Summarizer
from readagain.evaluation.machine import describe_machine
from readagain.evaluation.writing import write_whole
from readagain.experiments.paper import paper_table
from readagain.experiments.rows import ROWS
from readagain.experiments.settings import Scale, row_network
from readagain.experiments.time_table import TIMING_FILE, TOGETHER
from readagain.export.write import build_graphs
from readagain.model_dir import PRECISIONS, Precision
from readagain.networks.build import build_model
from readagain.text.document import sentence_words
from readagain.text.vocab import SPECIAL_TOKENS, Vocab

EXPECTED_S = {"paper": 300.0, "small": 10.0}
"""How long measuring takes, roughly."""
SUMMARY_WORDS = 8
"""The mean length of the paper's summaries, 8.3, in whole words."""
_SOURCE_WORDS = 5_000  # a larger table of embeddings is looked up as fast
_UNKNOWN = 10  # every so many words of a text stand outside the vocabulary
_SMALL_TEXTS = 4


def measure_timing(out: Path, *, scale: Scale, threads: int) -> None:
    """Measure all sizes and write `timing.json`."""
    path = out / TIMING_FILE
    out.mkdir(parents=True, exist_ok=True)
    texts = SENTENCES if scale == "paper" else SENTENCES[:_SMALL_TEXTS]
    measured: list[dict[str, Any]] = []
    for line in paper_table("table4"):
        for size in line.seconds:
            row = ROWS[f"{line.row}_{size.lower()}"]
            run = override(
                row_network(row, scale=scale),
                {
                    "source_vocab_size": _SOURCE_WORDS,
                    "decode.min_words": SUMMARY_WORDS,
                    "decode.max_words": SUMMARY_WORDS,
                },
            )
            for precision, ms in _measure(run, texts, threads, repeat=3 if scale == "paper" else 1):
                measured.append(
                    {"row": line.row, "size": size, "precision": precision, "ms_per_text": ms}
                )
    facts = {
        "scale": scale,
        "machine": describe_machine(),
        "threads": threads,
        "beam": row_network(ROWS["read_again_lstm_copy_15k"], scale=scale).decode.beam_size,
        "summary_words": SUMMARY_WORDS,
        "texts": len(texts),
        "measured": measured,
    }
    write_whole(path, json.dumps(facts, indent=1) + "\n")


def _measure(
    run: RunSpec, texts: Sequence[str], threads: int, *, repeat: int
) -> list[tuple[Precision, dict[str, float]]]:
    torch.manual_seed(0)
    tensors = {name: each.numpy() for name, each in build_model(run).state_dict().items()}
    vocabs = (_vocab(texts, run.source_vocab_size), _vocab(texts, run.vocab_size))
    found: list[tuple[Precision, dict[str, float]]] = []
    for precision, graphs in build_graphs(run, tensors, PRECISIONS).items():
        model = OnnxStepModel.open(*graphs, threads=threads)
        speed = measure_speed(
            lambda model=model: Summarizer(run, *vocabs, model),  # type: ignore[misc]
            texts,
            together=TOGETHER,
            repeat=repeat,
        )
        found.append((precision, {str(number): ms for number, ms in speed.ms_per_text.items()}))
    return found


def _vocab(texts: Sequence[str], size: int) -> Vocab:
    """Invent a vocabulary that knows most words of the texts."""
    words = dict.fromkeys(
        word for text in texts for sentence in sentence_words(text) for word in sentence
    )
    known = [word for place, word in enumerate(words) if place % _UNKNOWN]
    known = known[: size - len(SPECIAL_TOKENS)]
    fillers = [f"filler{number}" for number in range(size - len(SPECIAL_TOKENS) - len(known))]
    return Vocab([*SPECIAL_TOKENS, *known, *fillers])
