"""Fixtures: small networks, and batches with OOV words."""

from dataclasses import dataclass

import pytest
import torch

from readagain.config.override import override
from readagain.config.schema import RunSpec
from readagain.networks.build import build_model
from readagain.text.vocab import BOS, EOS, PAD

V, SOURCE_V = 12, 20
SMALL = {
    "vocab_size": V,
    "source_vocab_size": SOURCE_V,
    "model.embedding_size": 6,
    "model.encoder.hidden_size": 5,
    "model.decoder.hidden_size": 7,
    "model.decoder.attention_size": 4,
}

# Settings of all encoders.
ENCODERS = [
    {"model.encoder.kind": kind, "model.encoder.cell": cell, "model.encoder.bidirectional": both}
    | ({"data.num_sentences": 2, **extra} if kind == "hierarchical" else extra)
    for kind, extras in {
        "one_pass": [{}],
        "read_again": [{}],
        "hierarchical": [{}, {"model.encoder.combine": "global"}],
    }.items()
    for extra in extras
    for cell in ("gru", "lstm")
    for both in (False, True)
] + [
    {
        "model.encoder.kind": "read_again",
        "model.encoder.cell": "gru",
        "model.encoder.importance": "scalar",
        "model.encoder.importance_activation": "sigmoid",
    },
    {
        "model.encoder.kind": "read_again",
        "model.encoder.cell": "gru",
        "model.encoder.importance": "none",
        "model.decoder.initial_state": "zero",
    },
]


def describe(changes):
    return "-".join(str(value) for value in changes.values())


@pytest.fixture(params=ENCODERS, ids=describe)
def encoder_settings(request):
    return request.param


@pytest.fixture
def small_run():
    """Return a function that makes the run of a small Read-Again LSTM with copying."""

    def make_run(changes=None, **more):
        return override(RunSpec(title="small", paper="none"), {**SMALL, **(changes or {}), **more})

    return make_run


@pytest.fixture
def build(small_run):
    """Return a function that builds the network of `small_run` in float64."""

    def build(changes=None, **more):
        torch.manual_seed(11)
        return build_model(small_run(changes, **more)).double().eval()

    return build


@dataclass(frozen=True)
class Batch:
    """Arguments of the forward pass of a network."""

    source_ids: torch.Tensor
    source_lengths: torch.Tensor
    source_ext_ids: torch.Tensor
    previous_ids: torch.Tensor
    target_ids: torch.Tensor

    def arguments(self):
        return tuple(vars(self).values())

    def source(self):
        return self.source_ids, self.source_lengths, self.source_ext_ids

    def row(self, b):
        return Batch(*(value[b : b + 1] for value in vars(self).values()))


@pytest.fixture
def make_batch():
    """Return a function that makes a batch of three texts; the third has a shorter summary."""

    def make(num_sentences=1, num_words=5):
        random = torch.Generator().manual_seed(13)
        N, L, B = num_sentences, num_words, 3
        source_ids = torch.randint(4, SOURCE_V, (B, N, L), generator=random)
        lengths = torch.tensor([[5, 4], [3, 5], [4, 0]])[:, :N]
        is_word = torch.arange(L) < lengths.unsqueeze(-1)
        source_ids = source_ids.where(is_word, PAD)
        ext_ids = torch.randint(4, V, (B, N * L), generator=random)
        ext_ids[:, 1] = V + 1
        ext_ids[:, 2] = V + 2
        ext_ids = ext_ids.where(is_word.flatten(1), PAD)
        target_ids = torch.tensor([[V + 1, 5, V + 2, EOS], [6, V + 2, 7, EOS], [8, EOS, PAD, PAD]])
        start = torch.full((B, 1), BOS)
        previous_ids = torch.cat([start, target_ids[:, :-1]], dim=1)
        return Batch(source_ids, lengths, ext_ids, previous_ids, target_ids)

    return make
