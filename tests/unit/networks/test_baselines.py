"""Properties of the networks ABS and RAS; test_every_network.py has those of all networks."""

import pytest
import torch

C = 3


def test_gradients_match_finite_differences(build, baseline_settings, make_batch):
    model, batch = build(baseline_settings), make_batch()
    names = [name for name, _ in model.named_parameters()]

    def score(*values):
        parameters = dict(zip(names, values, strict=True))
        return torch.func.functional_call(model, parameters, batch.arguments())

    values = [parameter.detach().clone().requires_grad_() for parameter in model.parameters()]
    assert torch.autograd.gradcheck(score, values, fast_mode=True)


def test_abs_depends_on_last_words_only(build, make_batch):
    model, batch = build({"model.kind": "abs", "model.context_words": C}), make_batch()
    changed_ids = batch.previous_ids.clone()
    changed_ids[:, 0] = 9  # instead of BOS
    before = model(*batch.arguments())
    after = model(*batch.source(), changed_ids, batch.target_ids)
    assert (before[:, :C] != after[:, :C]).all()
    assert torch.equal(before[:, C:], after[:, C:])


def test_ras_depends_on_all_previous_words(build, make_batch):
    model, batch = build({"model.kind": "ras"}), make_batch()
    changed_ids = batch.previous_ids.clone()
    changed_ids[:, 0] = 9  # instead of BOS
    after = model(*batch.source(), changed_ids, batch.target_ids)
    assert (model(*batch.arguments()) != after).all()


@pytest.mark.parametrize(("num_positions", "is_shared"), [(2, True), (4, False)])
def test_ras_positions_beyond_last_share_embedding(build, num_positions, is_shared):
    model = build({"model.kind": "ras", "model.num_positions": num_positions, "model.window": 1})
    source_ids = torch.tensor([[[5, 6, 7, 7]]])
    state = model.encode(source_ids, torch.tensor([[4]]), torch.zeros(1, 4).long())
    keys = state.memory.keys  # positions 2 and 3 have the same word
    assert torch.equal(keys[0, 2], keys[0, 3]) is is_shared


def test_bfloat16_is_close_to_float32(build, baseline_settings, make_batch):
    model, batch = build(baseline_settings).float(), make_batch()
    in_float32 = model(*batch.arguments())
    with torch.autocast("cpu", torch.bfloat16):
        in_bfloat16 = model(*batch.arguments())
    assert in_bfloat16.dtype == torch.float32
    torch.testing.assert_close(in_bfloat16, in_float32, atol=0.05, rtol=0.02)
