"""Summaries of every preset that continue a given prefix."""

import pytest
import torch
from small_presets import small_preset

from readagain.engine.summarizer import Summarizer
from readagain.networks.build import build_model
from readagain.networks.step_model import TorchStepModel
from readagain.presets import PRESETS
from readagain.text.vocab import SPECIAL_TOKENS, Vocab

WORDS = "a the police bridge ferry storm old late people hit in ."
VOCAB = Vocab([*SPECIAL_TOKENS, *WORDS.split()])
SETTINGS = {
    "vocab_size": len(VOCAB),
    "source_vocab_size": len(VOCAB),
    "model.shortlist_size": 0,
    "decode.beam_size": 3,
}
TEXTS = [
    "Police in Ghent crossed the old bridge.",
    "A storm hit. The ferry Zephyr was late by day.",
]


@pytest.mark.parametrize("name", PRESETS)
def test_summary_continues_target_prefix(name):
    run = small_preset(name, **SETTINGS)
    torch.manual_seed(0)
    summarizer = Summarizer(run, VOCAB, VOCAB, TorchStepModel(build_model(run).eval()))
    limits = {"min_words": 5, "max_words": 8, "begin": "Ghent police blorb"}
    batched = summarizer.summarize(TEXTS, **limits)
    for text, summary in zip(TEXTS, batched, strict=True):
        assert summary.text.startswith("Ghent police blorb")
        assert 5 <= len(summary.words) <= 8
        assert summarizer.summarize(text, **limits).text == summary.text
