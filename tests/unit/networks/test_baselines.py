"""Properties of ABS and RAS."""

import pytest
import torch

from readagain.config.override import override
from readagain.config.schema import RunSpec
from readagain.networks.build import build_model
from readagain.networks.masks import valid_positions
from readagain.text.vocab import PAD, UNK

V, C = 12, 3
ABS = {
    "model.kind": "abs",
    "model.embedding_size": 4,
    "model.hidden_size": 6,
    "model.context_words": C,
}
RAS = {
    "model.kind": "ras",
    "model.embedding_size": 5,
    "model.hidden_size": 6,
    "model.num_positions": 4,
}
NETWORKS = {
    "abs": ABS,
    "ras, elman": RAS,
    "ras, lstm": RAS | {"model.cell": "lstm"},
    "ras, even window": RAS | {"model.window": 2},
}


def make_run(name, **changes):
    sizes = {"vocab_size": V, "source_vocab_size": 20, "model.dropout": 0.0}
    return override(RunSpec(title="small", paper="none"), {**sizes, **NETWORKS[name], **changes})


def build(name, **changes):
    torch.manual_seed(11)
    return build_model(make_run(name, **changes)).double().eval()


@pytest.fixture(params=NETWORKS)
def model(request):
    return build(request.param)


def padded(batch, extra):
    """Return the same texts with `extra` more positions."""
    pad = torch.nn.functional.pad
    return type(batch)(
        pad(batch.source_ids, (0, extra), value=PAD),
        batch.source_lengths,
        pad(batch.source_ext_ids, (0, extra), value=PAD),
        batch.previous_ids,
        batch.target_ids,
    )


@pytest.mark.parametrize("extra", [1, 2, 3])
def test_padding_does_not_change_scores(model, make_batch, extra):
    batch = make_batch()
    torch.testing.assert_close(
        model(*padded(batch, extra).arguments()), model(*batch.arguments()), atol=1e-12, rtol=0
    )


def test_padding_ids_do_not_change_scores(model, make_batch):
    batch = make_batch()
    is_word = valid_positions(batch.source_lengths, batch.source_ids.size(2))
    with_other_padding = torch.where(is_word, batch.source_ids, 7)
    scores = model(with_other_padding, *batch.arguments()[1:])
    torch.testing.assert_close(scores, model(*batch.arguments()), atol=1e-12, rtol=0)


def test_batch_scores_equal_single_scores(model, make_batch):
    batch = make_batch()
    alone = torch.cat([model(*batch.row(b).arguments()) for b in range(3)])
    torch.testing.assert_close(model(*batch.arguments()), alone, atol=1e-12, rtol=0)


def step_by_step(model, batch):
    """Return the log-probabilities of the targets, computed by `start` and `step`."""
    state, scores = model.start(*batch.source()), []
    for previous, target in zip(batch.previous_ids.T, batch.target_ids.T, strict=True):
        logits, state = model.step(state, previous)
        assert logits.copy is None
        target = torch.where(target < V, target, UNK)
        scores.append(logits.vocab.log_softmax(dim=1).gather(1, target.unsqueeze(1)))
    return torch.cat(scores, dim=1)


def test_steps_match_teacher_forcing(model, make_batch):
    batch = make_batch()
    torch.testing.assert_close(
        step_by_step(model, batch), model(*batch.arguments()), atol=1e-12, rtol=0
    )


def test_selected_rows_give_same_logits(model, make_batch):
    batch = make_batch()
    state = model.start(*batch.source())
    for previous in batch.previous_ids.T[:2]:
        _, state = model.step(state, previous)
    words = batch.previous_ids[:, 2]
    logits, _ = model.step(state, words)
    rows = torch.tensor([2, 0, 0])
    chosen, _ = model.step(state.select(rows), words[rows])
    torch.testing.assert_close(chosen.vocab, logits.vocab[rows], atol=1e-12, rtol=0)
    torch.testing.assert_close(chosen.attention, logits.attention[rows], atol=1e-12, rtol=0)


def test_reordered_rows_keep_memory(model, make_batch):
    same = [value.repeat(3, *[1] * (value.dim() - 1)) for value in make_batch().row(0).source()]
    state = model.start(*same)
    _, state = model.step(state, torch.tensor([4, 5, 6]))
    rows, words = torch.tensor([1, 0, 0]), torch.tensor([7, 8, 9])
    reordered = state.reorder(rows)
    assert reordered.memory is state.memory
    logits, _ = model.step(reordered, words)
    expected, _ = model.step(state.select(rows), words)
    torch.testing.assert_close(logits.vocab, expected.vocab, atol=1e-12, rtol=0)


def test_oov_words_are_fed_and_scored_as_unk(model, make_batch):
    batch = make_batch()
    as_unk = type(batch)(
        *batch.source(),
        batch.previous_ids.where(batch.previous_ids < V, UNK),
        batch.target_ids.where(batch.target_ids < V, UNK),
    )
    assert torch.equal(model(*batch.arguments()), model(*as_unk.arguments()))
    assert torch.equal(step_by_step(model, batch), step_by_step(model, as_unk))


@pytest.mark.parametrize("name", NETWORKS)
def test_dropout_is_off_in_evaluation(make_batch, name):
    model, batch = build(name, **{"model.dropout": 0.5}), make_batch()
    assert torch.equal(model(*batch.arguments()), model(*batch.arguments()))
    model.train()
    assert not torch.equal(model(*batch.arguments()), model(*batch.arguments()))


@pytest.mark.parametrize("name", NETWORKS)
def test_gradients_match_finite_differences(make_batch, name):
    model, batch = build(name), make_batch()
    names = [each for each, _ in model.named_parameters()]

    def score(*values):
        given = dict(zip(names, values, strict=True))
        return torch.func.functional_call(model, given, batch.arguments())

    values = [each.detach().clone().requires_grad_() for each in model.parameters()]
    assert torch.autograd.gradcheck(score, values, fast_mode=True)


@pytest.mark.parametrize("name", NETWORKS)
def test_every_source_word_changes_scores(make_batch, name):
    model, batch = build(name), make_batch()
    embedded = {}
    model.source_embedding.register_forward_hook(
        lambda module, given, out: embedded.update(words=out) or out.retain_grad()
    )
    model(*batch.arguments())[:, 0].sum().backward()
    is_word = valid_positions(batch.source_lengths.squeeze(1), batch.source_ids.size(2))
    assert torch.equal(embedded["words"].grad.abs().sum(dim=-1) > 0, is_word)


@pytest.mark.parametrize("name", NETWORKS)
def test_attention_weights_sum_to_one(make_batch, name):
    model, batch = build(name), make_batch()
    state = model.start(*batch.source())
    logits, _ = model.step(state, batch.previous_ids[:, 0])
    torch.testing.assert_close(logits.attention.sum(dim=1), torch.ones(3).double())
    assert not logits.attention[~state.memory.valid].any()


@pytest.mark.parametrize("name", [name for name in NETWORKS if name.startswith("abs")])
def test_abs_depends_on_last_words_only(make_batch, name):
    model, batch = build(name), make_batch()
    other = batch.previous_ids.clone()
    other[:, 0] = 9  # instead of BOS
    before, after = (
        model(*batch.source(), previous, batch.target_ids)
        for previous in (batch.previous_ids, other)
    )
    assert (before[:, :C] != after[:, :C]).all()
    assert torch.equal(before[:, C:], after[:, C:])


def test_ras_depends_on_all_previous_words(make_batch):
    model, batch = build("ras, elman"), make_batch()
    other = batch.previous_ids.clone()
    other[:, 0] = 9
    after = model(*batch.source(), other, batch.target_ids)
    assert (model(*batch.arguments()) != after).all()


@pytest.mark.parametrize(("num_positions", "differ"), [(2, False), (4, True)])
def test_ras_positions_beyond_last_share_embedding(num_positions, differ):
    model = build("ras, elman", **{"model.num_positions": num_positions, "model.window": 1})
    source_ids = torch.tensor([[[5, 6, 7, 7]]])
    state = model.encode(source_ids, torch.tensor([[4]]), torch.zeros(1, 4).long())
    keys = state.memory.keys
    assert torch.equal(keys[0, 2], keys[0, 3]) != differ


def test_bfloat16_is_close_to_float32(model, make_batch):
    batch, model = make_batch(), model.float()
    exact = model(*batch.arguments())
    with torch.autocast("cpu", torch.bfloat16):
        half = model(*batch.arguments())
    assert half.dtype == torch.float32
    torch.testing.assert_close(half, exact, atol=0.05, rtol=0.02)


@pytest.mark.parametrize("name", NETWORKS)
def test_forward_does_not_synchronize_device(make_batch, monkeypatch, name):
    """A read from the GPU makes the CPU wait, and a CUDA graph cannot contain it."""

    def fail(tensor, *arguments):
        raise AssertionError("a value was read from the device")

    model, arguments = build(name).train(), make_batch().arguments()
    for name in ("item", "tolist", "nonzero", "__bool__", "__int__", "__float__", "__index__"):
        monkeypatch.setattr(torch.Tensor, name, fail)
    model(*arguments).sum().backward()
