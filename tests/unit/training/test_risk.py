"""Minimum risk training: sampling, updates and a whole run."""

import json
from dataclasses import replace

import pytest
import torch

from readagain.config.override import override
from readagain.errors import ConfigError
from readagain.networks.build import build_model
from readagain.presets import PRESETS
from readagain.text.vocab import EOS, PAD, SPECIAL_TOKENS
from readagain.training.batch import Batch
from readagain.training.risk import RiskStep, sample_summaries

RUN = override(
    PRESETS["tiny"],
    {
        "vocab_size": 9,
        "source_vocab_size": 9,
        "model.embedding_size": 6,
        "model.encoder.hidden_size": 6,
        "model.decoder.hidden_size": 6,
        "model.decoder.attention_size": 6,
        "model.dropout": 0.0,
        "train.learning_rate": 0.02,
        "train.warmup_steps": 0,
        "train.schedule": "constant",
        "train.objective": "risk",
        "train.risk_samples": 12,
        "train.risk_likelihood": 0.0,
    },
)


def build_network():
    torch.manual_seed(3)
    return build_model(RUN)


def make_batch():
    """Return a batch of two texts and a padding row."""
    target_ids = torch.tensor([[5, 6, EOS], [8, EOS, PAD], [PAD, PAD, PAD]])
    return Batch(
        source_ids=torch.tensor([[[4, 5, 6]], [[7, 8, PAD]], [[PAD, PAD, PAD]]]),
        source_lengths=torch.tensor([[3], [2], [1]]),
        source_ext_ids=torch.tensor([[4, 5, 6], [7, 8, PAD], [PAD, PAD, PAD]]),
        previous_ids=torch.tensor([[2, 5, 6], [2, 8, PAD], [2, PAD, PAD]]),
        target_ids=target_ids,
        target_valid=torch.tensor([[True] * 3, [True, True, False], [False] * 3]),
    )


def build_step(**changes):
    spec = replace(RUN.train, **changes)
    model = build_network()
    return RiskStep(model, spec, network=model, max_words=4, total_steps=99, steps_per_epoch=9)


def test_samples_end_at_their_lengths():
    torch.manual_seed(0)
    ids, lengths = sample_summaries(
        build_network(), make_batch(), num_samples=50, num_words=4, can_end=True
    )
    assert ids.shape == (150, 4)
    for row, length in zip(ids.tolist(), lengths.tolist(), strict=True):
        assert all(id >= len(SPECIAL_TOKENS) for id in row[:length])
        assert all(id == PAD for id in row[length:])
    assert {0, 1, 2, 3, 4} == set(lengths.tolist())


def test_samples_without_eos_have_full_length():
    _, lengths = sample_summaries(
        build_network(), make_batch(), num_samples=5, num_words=3, can_end=False
    )
    assert lengths.tolist() == [3] * 15


def test_samples_follow_the_probabilities():
    model = build_network().eval()
    torch.manual_seed(0)
    ids, _ = sample_summaries(model, make_batch(), num_samples=20_000, num_words=1, can_end=False)
    model.eval()
    sources = make_batch()
    with torch.no_grad():
        first = torch.tensor([[2]] * 3)
        probs = torch.stack(
            [
                model(*sources.inputs()[:3], first, torch.full((3, 1), word)).exp()
                for word in range(len(SPECIAL_TOKENS), 9)
            ]
        )[:, 0, 0]
    frequencies = torch.bincount(ids[:20_000, 0], minlength=9)[len(SPECIAL_TOKENS) :] / 20_000
    torch.testing.assert_close(frequencies, probs / probs.sum(), atol=0.015, rtol=0)


@pytest.mark.slow
@pytest.mark.parametrize("risk_words", [0, 2])
def test_updates_raise_probability_of_rewarded_samples(risk_words):
    risk_step = build_step(risk_words=risk_words)
    first = [float(risk_step.update(make_batch())) for _ in range(4)]
    for _ in range(150):
        risk_step.update(make_batch())
    last = [float(risk_step.update(make_batch())) for _ in range(4)]
    assert sum(last) / 4 < sum(first) / 4 - 0.3


def test_padding_rows_do_not_change_the_update(monkeypatch):
    padded = make_batch()
    unpadded = Batch(*(tensor[:2] for tensor in vars(padded).values()))

    def risk_and_gradient(batch):
        step = build_step()
        loss, risk, count = step._sum_losses(batch)
        assert int(count) == 2
        loss.backward()
        return risk.item(), step.parameters[0].grad

    # The same samples for the rows that both batches have.
    def fixed_samples(network, batch, **options):
        rows = batch.source_ids.size(0) * options["num_samples"]
        ids = torch.tensor([[5, 6, PAD, PAD], [4, PAD, PAD, PAD], [8, 5, 6, 7]] * 24)[:rows]
        return ids, (ids != PAD).sum(1)

    monkeypatch.setattr("readagain.training.risk.sample_summaries", fixed_samples)
    risk, gradient = risk_and_gradient(padded)
    unpadded_risk, unpadded_gradient = risk_and_gradient(unpadded)
    assert risk == pytest.approx(unpadded_risk)
    torch.testing.assert_close(gradient, unpadded_gradient)


@pytest.mark.slow
def test_risk_training_resumes(make_job, run_job, stop_after, tmp_path):
    run_job(make_job(out="model"))
    settings = ("train.objective=risk", "train.risk_words=3")
    uninterrupted, interrupted = (
        make_job(*settings, out=out, preset=None, begin_from=tmp_path / "model")
        for out in ("uninterrupted", "interrupted")
    )
    run_job(uninterrupted)
    stop_after(5)
    result, _ = run_job(interrupted)
    assert result.state.step == 5
    result, _ = run_job(interrupted)
    assert result.is_finished
    log = (uninterrupted.out / "metrics.jsonl").read_text()
    lines = [json.loads(line) for line in log.splitlines()]
    losses = [line["loss"] for line in lines if "loss" in line]
    assert losses
    assert all(0 < loss < 1 for loss in losses)
    weights = (interrupted.out / "weights.safetensors").read_bytes()
    assert weights == (uninterrupted.out / "weights.safetensors").read_bytes()


def test_risk_needs_a_trained_model(make_job, run_job):
    with pytest.raises(ConfigError, match="'risk', which needs a trained model"):
        run_job(make_job("train.objective=risk"))
