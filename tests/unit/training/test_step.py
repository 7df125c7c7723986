"""Training updates: clipping, EMA, saved state and random seeds."""

from dataclasses import replace

import pytest
import torch

from readagain.config.override import override
from readagain.config.schema import TrainSpec
from readagain.networks.build import build_model
from readagain.presets import PRESETS
from readagain.text.vocab import BOS, EOS
from readagain.training.batch import Batch
from readagain.training.step import TrainingStep

RUN = override(
    PRESETS["tiny"],
    {
        "vocab_size": 9,
        "source_vocab_size": 8,
        "model.embedding_size": 4,
        "model.encoder.hidden_size": 4,
        "model.decoder.hidden_size": 4,
        "model.decoder.attention_size": 4,
    },
)
SGD = TrainSpec(learning_rate=0.5, schedule="constant", max_norm=100.0)
ADAMW = replace(SGD, optimizer="adamw", learning_rate=0.01, averaging="ema", ema_decay=0.75)
ADADELTA = replace(SGD, optimizer="adadelta", learning_rate=1.0)
BATCH = Batch(
    source_ids=torch.tensor([[[4, 5, 1]], [[6, 7, 0]]]),
    source_lengths=torch.tensor([[3], [2]]),
    source_ext_ids=torch.tensor([[4, 5, 11], [6, 10, 0]]),
    previous_ids=torch.tensor([[BOS, 11, 4], [BOS, 6, 0]]),
    target_ids=torch.tensor([[11, 4, EOS], [6, EOS, 0]]),
    target_valid=torch.tensor([[True, True, True], [True, True, False]]),
)


def build_step(spec, *, dtype=torch.float32, dropout=0.0):
    torch.manual_seed(3)
    model = build_model(override(RUN, {"model.dropout": dropout})).to(dtype)
    return TrainingStep(model, spec, total_steps=10, steps_per_epoch=5)


def copy_weights(step):
    return [parameter.detach().clone() for parameter in step.parameters]


def compute_loss(model):
    return -model(*BATCH.inputs())[BATCH.target_valid].mean()


def test_loss_is_mean_over_valid_targets():
    step = build_step(SGD)
    expected = compute_loss(step.model).detach()
    torch.testing.assert_close(step.update(BATCH), expected)


@pytest.mark.parametrize("optimizer", ["sgd", "adamw"])
@pytest.mark.parametrize("max_norm", [0.01, 100.0])
def test_clipping_by_scale_equals_clip_grad_norm(optimizer, max_norm):
    spec = replace(SGD, optimizer=optimizer, max_norm=max_norm)
    step, plain = build_step(spec), build_step(spec)
    for _ in range(3):
        step.update(BATCH)
        plain.optimizer.zero_grad()
        compute_loss(plain.model).backward()
        norm = torch.nn.utils.clip_grad_norm_(plain.parameters, max_norm)
        assert (norm > max_norm) == (max_norm == 0.01)
        plain.optimizer.step()
    assert step.optimizer.defaults["fused"]
    torch.testing.assert_close(copy_weights(step), copy_weights(plain), rtol=1e-4, atol=1e-6)


def test_unfused_optimizer_clips():
    # Float64 on a CPU, as in the tests of gradients.
    spec = replace(SGD, learning_rate=1.0, max_norm=0.01)
    step = build_step(spec, dtype=torch.float64)
    before = copy_weights(step)
    assert not step.optimizer.defaults["fused"]
    step.update(BATCH)
    change = torch.cat(
        [(new - old).flatten() for new, old in zip(copy_weights(step), before, strict=True)]
    )
    assert change.norm().item() == pytest.approx(0.01, rel=1e-4)


def test_averaged_weights_equal_plain_loop():
    step = build_step(ADAMW)
    history = []
    for _ in range(3):
        step.update(BATCH)
        history.append(copy_weights(step))
    factors = [0.25 * 0.75**age for age in (2, 1, 0)]
    expected = [
        sum(factor * value for factor, value in zip(factors, values, strict=True)) / sum(factors)
        for values in zip(*history, strict=True)
    ]
    with step.averaged_weights():
        torch.testing.assert_close(copy_weights(step), expected)
    assert all(map(torch.equal, copy_weights(step), history[-1]))


def test_weights_are_restored_after_an_error():
    step = build_step(ADAMW)
    step.update(BATCH)
    step.update(BATCH)
    before = copy_weights(step)

    def fail():
        with step.averaged_weights():
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert all(map(torch.equal, copy_weights(step), before))


@pytest.mark.parametrize("spec", [SGD, ADAMW, ADADELTA], ids=["sgd", "adamw and mean", "adadelta"])
def test_resumed_step_equals_uninterrupted(spec):
    uninterrupted = build_step(spec, dropout=0.3)
    for _ in range(2):
        uninterrupted.update(BATCH)
    state = {name: value.clone() for name, value in uninterrupted.state().items()}
    weights = {name: value.clone() for name, value in uninterrupted.model.state_dict().items()}

    resumed = build_step(spec, dropout=0.3)
    resumed.model.load_state_dict(weights)
    resumed.load_state(state)
    assert resumed.step == 2
    for _ in range(2):
        assert torch.equal(uninterrupted.update(BATCH), resumed.update(BATCH))
    assert uninterrupted.state().keys() == resumed.state().keys()
    for name, value in uninterrupted.state().items():
        assert torch.equal(value, resumed.state()[name]), name
    assert all(map(torch.equal, copy_weights(uninterrupted), copy_weights(resumed)))


def test_dropout_depends_on_seed_and_step():
    first, again = (build_step(SGD, dropout=0.5) for _ in range(2))
    torch.manual_seed(1)
    expected = [first.update(BATCH) for _ in range(2)]
    torch.manual_seed(2)
    assert [again.update(BATCH) for _ in range(2)] == expected
    constant = build_step(replace(SGD, learning_rate=1e-30), dropout=0.5)
    assert constant.update(BATCH) != constant.update(BATCH)
    other = build_step(replace(SGD, seed=8), dropout=0.5)
    assert other.update(BATCH) != expected[0]


def test_learning_rate_follows_schedule():
    step = build_step(replace(SGD, learning_rate=1.0, warmup_steps=4))
    rates = []
    for _ in range(5):
        rates.append(step.learning_rate(step.step))
        step.update(BATCH)
        assert step.optimizer.param_groups[0]["lr"].item() == pytest.approx(rates[-1])
    assert rates == [0.25, 0.5, 0.75, 1.0, 1.0]
