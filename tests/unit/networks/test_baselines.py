"""Properties of the networks ABS and RAS."""

import pytest
import torch
from stepwise_scores import score_step_by_step

from readagain.config.override import override
from readagain.config.schema import RunSpec
from readagain.networks.build import build_model
from readagain.networks.masks import valid_positions
from readagain.text.vocab import UNK

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


def build(name, **settings):
    torch.manual_seed(11)
    sizes = {"vocab_size": V, "source_vocab_size": 20, "model.dropout": 0.0}
    run = override(RunSpec(title="small", paper="none"), {**sizes, **NETWORKS[name], **settings})
    return build_model(run).double().eval()


@pytest.fixture(params=NETWORKS)
def model(request):
    return build(request.param)


@pytest.mark.parametrize("num_positions", [1, 2, 3])
def test_padding_does_not_change_scores(model, make_batch, num_positions):
    batch = make_batch()
    longer = batch.add_padding(num_positions)
    torch.testing.assert_close(
        model(*longer.arguments()), model(*batch.arguments()), atol=1e-12, rtol=0
    )


def test_padding_ids_do_not_change_scores(model, make_batch):
    batch = make_batch()
    is_word = valid_positions(batch.source_lengths, batch.source_ids.size(2))
    with_other_padding = torch.where(is_word, batch.source_ids, 7)
    scores = model(with_other_padding, *batch.arguments()[1:])
    torch.testing.assert_close(scores, model(*batch.arguments()), atol=1e-12, rtol=0)


def test_batch_scores_equal_single_scores(model, make_batch):
    batch = make_batch()
    single = torch.cat([model(*batch.row(b).arguments()) for b in range(3)])
    torch.testing.assert_close(model(*batch.arguments()), single, atol=1e-12, rtol=0)


def test_steps_match_teacher_forcing(model, make_batch):
    batch = make_batch()
    torch.testing.assert_close(
        score_step_by_step(model, batch), model(*batch.arguments()), atol=1e-12, rtol=0
    )


def test_selected_rows_give_same_logits(model, make_batch):
    batch = make_batch()
    state = model.start(*batch.source())
    for previous in batch.previous_ids.T[:2]:
        _, state = model.step(state, previous)
    words = batch.previous_ids[:, 2]
    logits, _ = model.step(state, words)
    rows = torch.tensor([2, 0, 0])
    selected, _ = model.step(state.select(rows), words[rows])
    assert selected.copy is None
    torch.testing.assert_close(selected.vocab, logits.vocab[rows], atol=1e-12, rtol=0)
    torch.testing.assert_close(selected.attention, logits.attention[rows], atol=1e-12, rtol=0)


def test_reordered_rows_keep_memory(model, make_batch):
    source = make_batch().row(0).source()
    state = model.start(*(value.repeat(3, *[1] * (value.dim() - 1)) for value in source))
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
    assert torch.equal(score_step_by_step(model, batch), score_step_by_step(model, as_unk))


@pytest.mark.parametrize("name", NETWORKS)
def test_dropout_is_off_in_evaluation(make_batch, name):
    model, batch = build(name, **{"model.dropout": 0.5}), make_batch()
    assert torch.equal(model(*batch.arguments()), model(*batch.arguments()))
    model.train()
    assert not torch.equal(model(*batch.arguments()), model(*batch.arguments()))


@pytest.mark.parametrize("name", NETWORKS)
def test_gradients_match_finite_differences(make_batch, name):
    model, batch = build(name), make_batch()
    names = [name for name, _ in model.named_parameters()]

    def score(*values):
        parameters = dict(zip(names, values, strict=True))
        return torch.func.functional_call(model, parameters, batch.arguments())

    values = [parameter.detach().clone().requires_grad_() for parameter in model.parameters()]
    assert torch.autograd.gradcheck(score, values, fast_mode=True)


@pytest.mark.parametrize("name", NETWORKS)
def test_every_source_word_changes_scores(make_batch, name):
    model, batch = build(name), make_batch()
    embeddings = []

    def keep_gradient(module, inputs, output):
        output.retain_grad()
        embeddings.append(output)

    model.source_embedding.register_forward_hook(keep_gradient)
    model(*batch.arguments())[:, 0].sum().backward()
    is_word = valid_positions(batch.source_lengths.squeeze(1), batch.source_ids.size(2))
    assert torch.equal(embeddings[0].grad.abs().sum(dim=-1) > 0, is_word)


@pytest.mark.parametrize("name", NETWORKS)
def test_attention_weights_sum_to_one(make_batch, name):
    model, batch = build(name), make_batch()
    state = model.start(*batch.source())
    logits, _ = model.step(state, batch.previous_ids[:, 0])
    torch.testing.assert_close(logits.attention.sum(dim=1), torch.ones(3).double())
    assert not logits.attention[~state.memory.valid].any()


def test_abs_depends_on_last_words_only(make_batch):
    model, batch = build("abs"), make_batch()
    changed_ids = batch.previous_ids.clone()
    changed_ids[:, 0] = 9  # instead of BOS
    before = model(*batch.arguments())
    after = model(*batch.source(), changed_ids, batch.target_ids)
    assert (before[:, :C] != after[:, :C]).all()
    assert torch.equal(before[:, C:], after[:, C:])


def test_ras_depends_on_all_previous_words(make_batch):
    model, batch = build("ras, elman"), make_batch()
    changed_ids = batch.previous_ids.clone()
    changed_ids[:, 0] = 9  # instead of BOS
    after = model(*batch.source(), changed_ids, batch.target_ids)
    assert (model(*batch.arguments()) != after).all()


@pytest.mark.parametrize(("num_positions", "is_shared"), [(2, True), (4, False)])
def test_ras_positions_beyond_last_share_embedding(num_positions, is_shared):
    model = build("ras, elman", **{"model.num_positions": num_positions, "model.window": 1})
    source_ids = torch.tensor([[[5, 6, 7, 7]]])
    state = model.encode(source_ids, torch.tensor([[4]]), torch.zeros(1, 4).long())
    keys = state.memory.keys  # positions 2 and 3 have the same word
    assert torch.equal(keys[0, 2], keys[0, 3]) is is_shared


def test_bfloat16_is_close_to_float32(model, make_batch):
    batch, model = make_batch(), model.float()
    in_float32 = model(*batch.arguments())
    with torch.autocast("cpu", torch.bfloat16):
        in_bfloat16 = model(*batch.arguments())
    assert in_bfloat16.dtype == torch.float32
    torch.testing.assert_close(in_bfloat16, in_float32, atol=0.05, rtol=0.02)


@pytest.mark.parametrize("name", NETWORKS)
def test_forward_does_not_synchronize_device(make_batch, forbid_device_reads, name):
    model, arguments = build(name).train(), make_batch().arguments()
    forbid_device_reads()
    model(*arguments).sum().backward()
