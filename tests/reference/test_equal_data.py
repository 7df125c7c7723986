"""Benchmark of systems that are trained on the same pairs: stopping rule, copies, Transformer."""

import sys
from pathlib import Path

import pytest
import torch

from readagain.networks.outputs import copy_target_log_probs
from readagain.text.vocab import BOS, EOS
from readagain.training.state import Scores, TrainingState

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture(autouse=True)
def benchmarks_on_path(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    yield
    for name in [name for name in sys.modules if name.split(".")[0] == "equal"]:
        del sys.modules[name]


def test_plateau_rule_equals_that_of_our_training():
    from equal.stopping import PATIENCE, PlateauRule

    from readagain.config.schema import TrainSpec

    spec = TrainSpec(schedule="plateau", patience=PATIENCE)
    rule, state = PlateauRule(), TrainingState()
    # 3.9965 is the best, but no improvement of 0.1%; 3.99 is one.
    for step, loss in enumerate([5.0, 4.0, 3.9965, 3.99, 4.1, 3.9899, 3.9898]):
        is_best = rule.update(loss)
        state = state.after_validation(Scores(step=step, dev_loss=loss), spec)
        assert is_best == (state.best.step == step)
        assert (rule.num_plateaus, rule.has_ended) == (state.num_plateaus, state.has_stopped_early)
    assert rule.has_ended
    assert rule.rate_factor == 0.5**4


@pytest.mark.parametrize("name", ["transformer", "opennmt"])
def test_system_without_training_is_described(tmp_path, name):
    from equal.comparison import Comparison

    comparison = object.__new__(Comparison)
    comparison.out = tmp_path
    title, *values = comparison._describe(name)
    assert title == {"transformer": "Transformer with copying"}.get(
        name, "OpenNMT-py, copying LSTM"
    )
    assert values == [("-", "-"), "-", "-", "not trained"]


def test_copies_continue_where_the_last_word_was_copied():
    from equal.corpus import find_copies

    source = ["b", "x", "a", "b"]
    assert find_copies(["a", "b", "b", "c", "b"], source) == [2, 3, 0, None, 0]


def test_transformer_steps_equal_teacher_forcing(monkeypatch):
    from equal import copy_transformer

    for name, size in (("WIDTH", 16), ("NUM_HEADS", 2), ("FEED_FORWARD_WIDTH", 24)):
        monkeypatch.setattr(copy_transformer, name, size)
    torch.manual_seed(0)
    model = copy_transformer.CopyTransformer(20, 12).eval()
    source_ids = torch.randint(4, 20, (2, 1, 5))
    lengths = torch.tensor([[5], [3]])
    source_ext_ids = torch.tensor([[4, 12 + 1, 6, 7, 12 + 4], [5, 5, 8, 0, 0]])
    words = torch.tensor([[12 + 1, 6, 12 + 4], [5, 9, 8]])  # two words only the source has
    previous_ids = torch.cat([torch.full((2, 1), BOS), words], 1)
    target_ids = torch.cat([words, torch.full((2, 1), EOS)], 1)
    with torch.inference_mode():
        expected = model(source_ids, lengths, source_ext_ids, previous_ids, target_ids)
        state = model.start(source_ids, lengths, source_ext_ids)
        columns = []
        for step in range(previous_ids.size(1)):
            logits, state = model.step(state, previous_ids[:, step])
            memory = state.memory
            columns.append(
                copy_target_log_probs(
                    logits.vocab.unsqueeze(1),
                    logits.copy.unsqueeze(1),
                    memory.valid,
                    memory.ext_ids,
                    target_ids[:, step : step + 1],
                )
            )
        alone = model(
            source_ids[1:, :, :3], lengths[1:], source_ext_ids[1:, :3], previous_ids[1:],
            target_ids[1:],
        )  # fmt: skip
    torch.testing.assert_close(torch.cat(columns, 1), expected)
    torch.testing.assert_close(alone, expected[1:])
