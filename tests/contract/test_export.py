"""ONNX graphs of every preset have the outputs of its network: float32 equal, int8 close."""

import numpy as np
import pytest
import torch
from small_presets import SOURCE_V, V, small_preset

from readagain.config.schema import ModelSpec
from readagain.engine.onnx_model import OnnxStepModel
from readagain.export.write import build_graphs
from readagain.networks.build import build_model
from readagain.networks.step_model import TorchStepModel
from readagain.presets import PRESETS
from readagain.search.beam import beam_search
from readagain.search.constraints import LengthConstraint, NoRepeatedNgram
from readagain.search.model import SourceBatch
from readagain.text.vocab import BOS, PAD

# Settings that no preset has but users may choose. A name starts with the preset, then a comma.
VARIANTS = {
    "gru_15k, bidirectional": {"model.encoder.bidirectional": True},
    "read_again_gru_copy_15k, bidirectional": {"model.encoder.bidirectional": True},
    "read_again_gru_copy_15k, scalar sigmoid": {
        "model.encoder.importance": "scalar",
        "model.encoder.importance_activation": "sigmoid",
    },
    "read_again_gru_copy_15k, second pass by concatenation": {"model.encoder.importance": "none"},
    "read_again_lstm_copy_15k, decoder state from zero": {"model.decoder.initial_state": "zero"},
    "read_again_lstm_copy_15k, bidirectional": {"model.encoder.bidirectional": True},
    "read_again_lstm_copy_15k, copied words embedded as UNK": {"model.copied_words": "unknown"},
    "lvt2k_1sent, small shortlist": {"model.shortlist_size": 15, "data.max_source_words": 7},
    "lvt2k_1sent, small shortlist and copying": {
        "model.shortlist_size": 15,
        "data.max_source_words": 7,
        "model.output": "copy",
    },
    "read_again_lstm_15k, small shortlist": {
        "model.shortlist_size": 15,
        "data.max_source_words": 7,
    },
    "two_sentences_option1_copy_15k, gru": {"model.encoder.cell": "gru"},
    "two_sentences_option2_copy_15k, bidirectional": {"model.encoder.bidirectional": True},
    "abs_69k, one context word and no smoothing": {
        "model.context_words": 1,
        "model.encoder.smoothing": 0,
    },
    "ras_elman, even window": {"model.window": 4},
}
# `readagain export --shortlist` can add a shortlist to every encoder-decoder.
VARIANTS |= {
    f"{name}, exported with a shortlist": {
        "model.shortlist_size": 20,
        "data.max_source_words": 16 // run.data.num_sentences,
    }
    for name, run in PRESETS.items()
    if isinstance(run.model, ModelSpec)
}


def small_variant(name):
    return small_preset(name.partition(",")[0], **VARIANTS.get(name, {}))


# One name for each network: with small sizes, some presets have the same network.
NAMES = list({small_variant(name).model: name for name in [*VARIANTS, *reversed(PRESETS)]}.values())


@pytest.fixture(scope="module", params=NAMES)
def run(request):
    return small_variant(request.param)


@pytest.fixture(scope="module")
def network(run):
    torch.set_num_threads(1)
    torch.manual_seed(3)
    return build_model(run).eval()


@pytest.fixture(scope="module")
def exported(run, network):
    tensors = {name: tensor.numpy() for name, tensor in network.state_dict().items()}
    graphs = build_graphs(run, tensors, ["float32", "int8"])
    return {
        precision: OnnxStepModel.open(*contents, threads=1)
        for precision, contents in graphs.items()
    }


@pytest.fixture(scope="module")
def sources(run):
    """Five documents with OOV words, repeated words and padding; one has no last sentence."""
    random = np.random.default_rng(5)
    N = 1 if run.data.join_sentences else run.data.num_sentences
    B, L = 5, min(7, run.data.max_source_words)
    lengths = random.integers(1, L + 1, (B, N))
    if N > 1:
        lengths[0, -1] = 0
    valid = np.arange(L) < lengths[:, :, None]
    source_ids = np.where(valid, random.integers(4, SOURCE_V, (B, N, L)), PAD)
    words = random.integers(4, V + 5, (B, N * L))
    is_same = words[:, :, None] == words[:, None, :]
    first = (is_same & valid.reshape(B, 1, -1)).argmax(axis=2)
    ext_ids = np.where(words < V, words, V + first)
    ext_ids = np.where(valid.reshape(B, -1), ext_ids, PAD)
    return SourceBatch(source_ids=source_ids, lengths=lengths, source_ext_ids=ext_ids)


def step_along(model, sources, paths):
    """Yield the candidates of each step along `paths`: rows to select and their previous words."""
    state = model.start(sources)
    previous_ids = np.full(len(sources), BOS)
    for rows, previous in [*paths, (None, None)]:
        candidates, state = model.step(state, previous_ids, 12)
        yield candidates
        if rows is not None:
            state, previous_ids = model.select(state, rows), previous


@pytest.fixture(scope="module")
def paths(network, sources):
    """Three selections of rows with previous words of random ranks.

    Rows are repeated, and the second selection has no row of the first document.
    """
    steps = []
    model = TorchStepModel(network)
    state, previous_ids = model.start(sources), np.full(len(sources), BOS)
    random = np.random.default_rng(7)
    for rows in ([0, 0, 0, 1, 2, 2, 3, 4], [1, 1, 3, 5, 6, 7, 7], [0, 1, 2, 3, 4, 4, 5, 6]):
        candidates, state = model.step(state, previous_ids, 12)
        rows = np.array(rows)
        previous_ids = candidates.ids[rows, random.integers(0, 12, len(rows))]
        state = model.select(state, rows)
        steps.append((rows, previous_ids))
    return steps


def test_float32_graphs_match_network_at_every_step(network, exported, sources, paths):
    outputs = list(step_along(TorchStepModel(network), sources, paths))
    for expected, found in zip(
        outputs, step_along(exported["float32"], sources, paths), strict=True
    ):
        is_word = np.isfinite(expected.log_probs)
        np.testing.assert_array_equal(found.ids[is_word], expected.ids[is_word])
        np.testing.assert_array_equal(found.copied_from[is_word], expected.copied_from[is_word])
        np.testing.assert_allclose(found.log_probs, expected.log_probs, atol=1e-5)
        np.testing.assert_allclose(found.end_log_probs, expected.end_log_probs, atol=1e-5)
        np.testing.assert_allclose(found.attention, expected.attention, atol=1e-6)


def test_int8_graphs_are_close_to_network(network, exported, sources, paths):
    outputs = list(step_along(TorchStepModel(network), sources, paths))
    for expected, found in zip(outputs, step_along(exported["int8"], sources, paths), strict=True):
        np.testing.assert_allclose(found.end_log_probs, expected.end_log_probs, atol=0.05)
        np.testing.assert_allclose(found.log_probs[:, 0], expected.log_probs[:, 0], atol=0.05)


def test_beam_search_finds_same_summaries(network, exported, sources):
    best = [
        beam_search(
            model,
            sources,
            beam_size=4,
            length=LengthConstraint(minimum=1, maximum=8),
            constraints=[NoRepeatedNgram(1)],
            n_best=3,
        )
        for model in (TorchStepModel(network), exported["float32"])
    ]
    expected, found = [
        [[each.ids.tolist() for each in hypotheses] for hypotheses in documents]
        for documents in best
    ]
    assert found == expected


@pytest.mark.parametrize("precision", ["float32", "int8"])
def test_graphs_do_not_depend_on_batch(exported, sources, precision):
    model = exported[precision]
    (batched,) = step_along(model, sources, [])
    for b in range(len(sources)):
        padded_length = sources.source_ids.shape[2]
        length = max(1, int(sources.lengths[b].max()))
        if sources.lengths.shape[1] > 1:
            length = padded_length  # flat positions depend on the padded length
        single_source = SourceBatch(
            source_ids=sources.source_ids[b : b + 1, :, :length],
            lengths=sources.lengths[b : b + 1],
            source_ext_ids=sources.source_ext_ids[b : b + 1]
            .reshape(1, -1, padded_length)[:, :, :length]
            .reshape(1, -1),
        )
        (single,) = step_along(model, single_source, [])
        np.testing.assert_allclose(single.log_probs[0], batched.log_probs[b], atol=1e-5)
        np.testing.assert_array_equal(single.ids[0], batched.ids[b])


def test_importance_is_mean_of_second_pass_weights(run, network, exported, sources):
    model = exported["float32"]
    spec = getattr(run.model, "encoder", None)
    if getattr(spec, "importance", "none") == "none" or spec.cell == "lstm":
        assert model.importance(sources) is None
        return
    state = TorchStepModel(network).start(sources)
    expected = state.network_state.memory.importance.mean(dim=2).numpy()
    found = model.importance(sources)
    valid = sources.source_valid
    np.testing.assert_allclose(found[valid], expected[valid], atol=1e-6)
