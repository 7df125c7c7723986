"""Fixtures: settings of small networks, and batches with OOV words."""

from dataclasses import dataclass, replace

import pytest
import torch
import torch.nn.functional as F

from readagain.config.override import override
from readagain.config.schema import RunSpec
from readagain.networks.build import build_model
from readagain.search.model import SourceBatch
from readagain.text.vocab import BOS, EOS, PAD

V, SOURCE_V = 12, 20
VOCABS = {"vocab_size": V, "source_vocab_size": SOURCE_V}
# Sizes of encoder-decoders.
SIZES = {
    "model.embedding_size": 6,
    "model.encoder.hidden_size": 5,
    "model.decoder.hidden_size": 7,
    "model.decoder.attention_size": 4,
}

# All kinds of encoders.
ENCODER_KINDS = [
    {"model.encoder.kind": "one_pass"},
    {"model.encoder.kind": "read_again"},
    {"model.encoder.kind": "hierarchical", "data.num_sentences": 2},
    {
        "model.encoder.kind": "hierarchical",
        "data.num_sentences": 2,
        "model.encoder.combine": "global",
    },
]
# Each kind with each cell and one or two directions, and two special settings of the GRU.
ENCODERS = [
    {**kind, "model.encoder.cell": cell, "model.encoder.bidirectional": bidirectional}
    for kind in ENCODER_KINDS
    for cell in ("gru", "lstm")
    for bidirectional in (False, True)
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


# A shortlist has 10 of V = 12 words. The first text of `make_batch` contains word 11, which is on
# the shortlist of this text although it is rare.
SHORTLIST = {"model.shortlist_size": 10, "data.max_source_words": 5, "model.shortlist_sources": 1}
SHORTLIST_OR_GRU_DECODER = [
    {**SHORTLIST, "model.output": "softmax"},
    {**SHORTLIST, "model.output": "copy"},
    {"model.output": "softmax", "model.decoder.cell": "gru"},
]

ABS = {
    "model.kind": "abs",
    "model.embedding_size": 4,
    "model.hidden_size": 6,
    "model.context_words": 3,
}
RAS = {
    "model.kind": "ras",
    "model.embedding_size": 5,
    "model.hidden_size": 6,
    "model.num_positions": 4,
}
BASELINES = [ABS, RAS, {**RAS, "model.cell": "lstm"}, {**RAS, "model.window": 2}]

NETWORKS = [
    *(
        {**encoder, "model.output": output}
        for encoder in ENCODERS
        for output in ("copy", "softmax")
    ),
    *SHORTLIST_OR_GRU_DECODER,
    *BASELINES,
]


def settings_id(settings):
    """Return the name of a parametrized test with these settings."""
    return "-".join(str(value) for value in settings.values())


@pytest.fixture(params=ENCODERS, ids=settings_id)
def encoder_settings(request):
    return request.param


@pytest.fixture(params=NETWORKS, ids=settings_id)
def network_settings(request):
    """Return the settings of each network."""
    return request.param


@pytest.fixture(
    params=[settings for settings in NETWORKS if settings.get("model.output") != "copy"],
    ids=settings_id,
)
def settings_without_copying(request):
    """Return the settings of each network that cannot copy."""
    return request.param


@pytest.fixture(params=BASELINES, ids=settings_id)
def baseline_settings(request):
    """Return the settings of ABS and of each variant of RAS."""
    return request.param


@pytest.fixture(params=SHORTLIST_OR_GRU_DECODER, ids=settings_id)
def shortlist_or_gru_settings(request):
    """Return the settings of networks with a shortlist, and of one with a GRU decoder."""
    return request.param


@pytest.fixture
def shortlist_settings():
    return {**SHORTLIST, "model.output": "softmax"}


@pytest.fixture
def small_run():
    """Return a function that makes the run of a small network, by default a Read-Again LSTM.

    The arguments of the function change settings of the run.
    """

    def make_run(settings=None, **more_settings):
        settings = {**(settings or {}), **more_settings}
        sizes = {"model.dropout": 0.0} if "model.kind" in settings else SIZES
        run = RunSpec(title="small", paper="none")
        return override(run, {**VOCABS, **sizes, **settings})

    return make_run


@pytest.fixture
def build(small_run):
    """Return a function that builds the network of `small_run` in float64."""

    def build(settings=None, **more_settings):
        torch.manual_seed(11)
        return build_model(small_run(settings, **more_settings)).double().eval()

    return build


@dataclass(frozen=True)
class Batch:
    """Arguments of `Network.forward`."""

    source_ids: torch.Tensor
    source_lengths: torch.Tensor
    source_ext_ids: torch.Tensor
    previous_ids: torch.Tensor
    target_ids: torch.Tensor

    def arguments(self):
        return tuple(vars(self).values())

    def source(self):
        """Return the arguments of `Network.start` and `Network.encode`."""
        return self.source_ids, self.source_lengths, self.source_ext_ids

    def source_batch(self):
        """Return the sources for `TorchStepModel`."""
        return SourceBatch(
            source_ids=self.source_ids.numpy(),
            lengths=self.source_lengths.numpy(),
            source_ext_ids=self.source_ext_ids.numpy(),
        )

    def row(self, b):
        """Return a batch of one text."""
        return Batch(*(value[b : b + 1] for value in vars(self).values()))

    def add_padding(self, num_positions):
        """Return the same texts with more padding at the end of every sentence.

        The OOV words must be in the first sentence, so that their ids V + position stay the same.
        """
        ext_ids = self.source_ext_ids.view_as(self.source_ids)  # (B, N, L)
        return replace(
            self,
            source_ids=F.pad(self.source_ids, (0, num_positions), value=PAD),
            source_ext_ids=F.pad(ext_ids, (0, num_positions), value=PAD).flatten(1),
        )


@pytest.fixture
def make_batch():
    """Return a function that makes a batch of three texts with one or two sentences.

    The third text has no second sentence and a shorter summary. In all texts, the second and third
    words are OOV. The first text and its summary contain word 11, the rarest of the vocabulary.
    """

    def make(num_sentences=1):
        random = torch.Generator().manual_seed(13)
        B, N, L = 3, num_sentences, 5
        source_ids = torch.randint(4, SOURCE_V, (B, N, L), generator=random)
        lengths = torch.tensor([[5, 4], [3, 5], [4, 0]])[:, :N]
        is_word = torch.arange(L) < lengths.unsqueeze(-1)
        source_ids = source_ids.where(is_word, PAD)
        ext_ids = torch.randint(4, V, (B, N * L), generator=random)
        ext_ids[:, 1] = V + 1
        ext_ids[:, 2] = V + 2
        ext_ids[0, 0] = 11
        ext_ids = ext_ids.where(is_word.flatten(1), PAD)
        target_ids = torch.tensor([[V + 1, 11, V + 2, EOS], [6, V + 2, 7, EOS], [8, EOS, PAD, PAD]])
        start = torch.full((B, 1), BOS)
        previous_ids = torch.cat([start, target_ids[:, :-1]], dim=1)
        return Batch(source_ids, lengths, ext_ids, previous_ids, target_ids)

    return make


@pytest.fixture
def forbid_device_reads(monkeypatch):
    """Return a function that makes every later read of a tensor value raise an error.

    On a GPU, such a read makes the CPU wait, and a CUDA graph cannot contain it.
    """

    def fail(tensor, *arguments):
        raise AssertionError("a value was read from the device")

    def forbid():
        for name in ("item", "tolist", "nonzero", "__bool__", "__int__", "__float__", "__index__"):
            monkeypatch.setattr(torch.Tensor, name, fail)

    return forbid
