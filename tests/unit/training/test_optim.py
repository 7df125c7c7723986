"""Learning-rate schedules, weight decay and EMA weights."""

import math

import pytest
import torch
from torch import nn

from readagain.config.schema import TrainSpec
from readagain.training.optim import EmaWeights, build_optimizer, learning_rate


def rates(spec, steps, *, total_steps=100, steps_per_epoch=10):
    return [
        learning_rate(spec, step=step, total_steps=total_steps, steps_per_epoch=steps_per_epoch)
        for step in steps
    ]


def test_learning_rate_rises_during_warm_up():
    spec = TrainSpec(learning_rate=0.8, warmup_steps=4, schedule="constant")
    assert rates(spec, range(6)) == pytest.approx([0.2, 0.4, 0.6, 0.8, 0.8, 0.8])


def test_learning_rate_without_warm_up_starts_full():
    spec = TrainSpec(learning_rate=0.8, warmup_steps=0, schedule="constant")
    assert rates(spec, [0, 99]) == [0.8, 0.8]


def test_halving_schedule_halves_each_later_epoch():
    spec = TrainSpec(learning_rate=1.0, warmup_steps=0, schedule="halving", halving_from_epoch=3)
    # An epoch has ten updates, so updates 0 to 29 are the first three epochs.
    assert rates(spec, [0, 29, 30, 39, 40, 50]) == [1.0, 1.0, 0.5, 0.5, 0.25, 0.125]


def test_halving_schedule_halves_after_several_epochs():
    spec = TrainSpec(learning_rate=1.0, halving_from_epoch=2, halving_every=3)
    # Updates 0 to 19 are the first two epochs, updates 20 to 49 the next three.
    assert rates(spec, [0, 19, 20, 49, 50, 79, 80]) == [1.0, 1.0, 0.5, 0.5, 0.25, 0.25, 0.125]


def test_halving_every_epoch_is_the_papers_schedule():
    spec = TrainSpec(learning_rate=2.0)
    expected = [2.0 * 0.5 ** max(0, epoch + 1 - 5) for epoch in range(12)]
    assert rates(spec, range(5, 120, 10)) == expected


def test_cosine_schedule_falls_to_zero():
    spec = TrainSpec(learning_rate=2.0, warmup_steps=20, schedule="cosine")
    # After warm-up there are 80 updates; 0, 20, 40, 80 and 110 of them are done.
    expected = [2.0, 1.0 + math.cos(math.pi / 4), 1.0, 0.0, 0.0]
    assert rates(spec, [20, 40, 60, 100, 130]) == pytest.approx(expected)


def test_plateau_schedule_halves_at_each_plateau():
    spec = TrainSpec(learning_rate=1.0, warmup_steps=4, schedule="plateau")
    options = {"total_steps": 100, "steps_per_epoch": 10}
    rates = [learning_rate(spec, step=50, num_plateaus=number, **options) for number in (0, 1, 3)]
    assert rates == [1.0, 0.5, 0.125]
    # During warm-up, plateaus have no effect.
    assert learning_rate(spec, step=1, num_plateaus=1, **options) == 0.5


def test_warm_up_may_last_the_whole_run():
    spec = TrainSpec(learning_rate=1.0, warmup_steps=10, schedule="cosine")
    assert rates(spec, [9, 10], total_steps=10) == [1.0, 1.0]


@pytest.mark.parametrize(
    ("optimizer", "weight", "bias"),
    [
        ("adamw", 0.9, 1.0),
        ("sgd", 0.9, 0.9),
        ("adadelta", 1 - 0.1 * math.sqrt(1e-6 / 0.050001), 1 - 0.1 * math.sqrt(1e-6 / 0.050001)),
    ],
)
def test_only_adamw_excludes_biases_from_decay(optimizer, weight, bias):
    layer = nn.Linear(2, 1)
    nn.init.ones_(layer.weight)
    nn.init.ones_(layer.bias)
    spec = TrainSpec(optimizer=optimizer, learning_rate=0.1, weight_decay=1.0)
    for parameter in layer.parameters():
        parameter.grad = torch.zeros_like(parameter)
    build_optimizer(layer.parameters(), spec).step()
    assert layer.weight.detach().flatten().tolist() == pytest.approx([weight, weight], rel=1e-6)
    assert layer.bias.item() == pytest.approx(bias, rel=1e-6)


def test_ema_equals_plain_loop():
    weight = nn.Parameter(torch.zeros(1))
    ema = EmaWeights([weight], decay=0.75)
    values = [3.0, -1.0, 2.0, 5.0]
    for value in values:
        weight.data.fill_(value)
        ema.update()
    factors = [0.25 * 0.75**age for age in (3, 2, 1, 0)]
    products = (factor * value for factor, value in zip(factors, values, strict=True))
    expected = sum(products) / sum(factors)
    assert ema.average(4)[0].item() == pytest.approx(expected)


def test_ema_after_one_update_is_the_weights():
    weight = nn.Parameter(torch.tensor([4.0]))
    ema = EmaWeights([weight], decay=0.999)
    ema.update()
    assert ema.average(1)[0].item() == pytest.approx(4.0, rel=1e-4)


def test_adadelta_learns_with_rate_one():
    """Zeiler 2012, algorithm 1, by hand: the first step is √ε / √(0.05 g² + ε) times g."""
    weight = nn.Parameter(torch.tensor([2.0]))
    optimizer = build_optimizer([weight], TrainSpec(optimizer="adadelta", learning_rate=1.0))
    weight.grad = torch.tensor([3.0])
    optimizer.step()
    step = 3.0 * math.sqrt(1e-6) / math.sqrt(0.05 * 9 + 1e-6)
    assert weight.item() == pytest.approx(2.0 - step, abs=1e-6)
