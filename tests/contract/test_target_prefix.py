"""Every network goes on from words that it was given, those it does not know included."""

import pytest
import torch

from readagain.config.fields import walk_fields
from readagain.config.override import override
from readagain.engine.summarizer import Summarizer
from readagain.networks.build import build_model
from readagain.networks.step_model import TorchStepModel
from readagain.presets import PRESETS
from readagain.text.vocab import SPECIAL_TOKENS, Vocab

WORDS = [
    "a",
    "the",
    "police",
    "bridge",
    "ferry",
    "storm",
    "old",
    "late",
    "people",
    "hit",
    "in",
    ".",
]
VOCAB = Vocab([*SPECIAL_TOKENS, *WORDS])
SMALL = {
    "vocab_size": len(VOCAB),
    "source_vocab_size": len(VOCAB),
    "model.embedding_size": 6,
    "model.encoder.hidden_size": 8,
    "model.decoder.hidden_size": 7,
    "model.decoder.attention_size": 5,
    "model.hidden_size": 9,
    "model.shortlist_size": 0,
    "decode.beam_size": 3,
}
TEXTS = [
    "Police in Ghent crossed the old bridge.",
    "A storm hit. The ferry Zephyr was late by day.",
]


@pytest.mark.parametrize("name", PRESETS)
def test_summary_continues_target_prefix(name):
    settings = {path for path, _, _ in walk_fields(PRESETS[name])}
    run = override(PRESETS[name], {path: size for path, size in SMALL.items() if path in settings})
    torch.manual_seed(0)
    summarizer = Summarizer(run, VOCAB, VOCAB, TorchStepModel(build_model(run).eval()))
    limits = {"min_words": 5, "max_words": 8, "begin": "Ghent police blorb"}
    together = summarizer.summarize(TEXTS, **limits)
    for text, summary in zip(TEXTS, together, strict=True):
        assert summary.text.startswith("Ghent police blorb")
        assert 5 <= len(summary.words) <= 8
        assert summarizer.summarize(text, **limits).text == summary.text
