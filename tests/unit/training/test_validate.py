"""Validation: loss of dev pairs, headlines as words, and the warning about collapse."""

from types import SimpleNamespace

import pytest
import torch

from readagain.networks.build import build_model
from readagain.training.job import resolve
from readagain.training.stop_signal import StopSignal
from readagain.training.validate import Headline, Validator, collapse_warning, evenly_spaced


@pytest.fixture
def validator_and_model(make_job):
    job = resolve(make_job())
    torch.manual_seed(0)
    model = build_model(job.run)
    return Validator(job, torch.device("cpu")), model


def test_validate_returns_scores_and_headlines(validator_and_model):
    validator, model = validator_and_model
    validation = validator.validate(model, step=5, stop=StopSignal())
    assert validation.scores.step == 5
    assert 0 <= validation.scores.rouge_l <= 100
    assert len(validation.samples) == 3
    assert all("on monday" in sample.reference for sample in validation.samples)
    assert all(sample.source.startswith("the ") for sample in validation.samples)


def test_dev_loss_is_mean_over_words(validator_and_model):
    validator, model = validator_and_model
    model.eval()
    whole = validator._compute_loss(model, StopSignal())
    validator.batch_size = 7
    assert validator._compute_loss(model, StopSignal()) == pytest.approx(whole, rel=1e-6)


def test_copied_oov_word_comes_from_the_text(make_job):
    job = resolve(make_job("vocab_size=8"))
    validator = Validator(job, torch.device("cpu"))
    (sentence,) = validator.dataset.sentences(0)
    words = [job.corpus.lexicon.words[id] for id in sentence]
    position = next(index for index, word in enumerate(words) if word not in job.vocabs.summary)
    V = len(job.vocabs.summary)
    headline = validator._build_headline(0, [V + position, 4], 40)
    assert headline.output == f"{words[position]} {job.vocabs.summary.words[4]}"
    assert headline.source == " ".join(words)


def test_copied_word_comes_from_its_sentence(make_job):
    job = resolve(make_job("vocab_size=8"))
    validator = Validator(job, torch.device("cpu"))
    (sentence,) = validator.dataset.sentences(0)
    validator.dataset = SimpleNamespace(sentences=lambda pair: [[], sentence])
    output = validator._build_headline(0, [len(job.vocabs.summary) + 40 + 1], 40).output
    assert output == job.corpus.lexicon.words[sentence[1]]


def test_stop_signal_ends_validation(validator_and_model):
    validator, model = validator_and_model
    stop = StopSignal()
    stop.is_set = True
    assert validator.validate(model, step=5, stop=stop) is None


def test_validate_without_rouge_pairs_scores_loss_only(make_job):
    job = resolve(make_job("train.rouge_pairs=0"))
    validator = Validator(job, torch.device("cpu"))
    validation = validator.validate(build_model(job.run), step=1, stop=StopSignal())
    assert validation.scores.rouge_1 is None
    assert (validation.samples, validation.warning) == ([], None)


def make_headlines(*outputs):
    return [Headline(f"text {n}", text, "reference") for n, text in enumerate(outputs)]


def test_collapse_warning_for_one_repeated_headline():
    collapsed = make_headlines(*["the same"] * 6, *"abcd")
    assert "6 of 10 different texts got the same headline, 'the same'" in collapse_warning(
        collapsed
    )


def test_no_collapse_warning_for_different_headlines():
    assert collapse_warning(make_headlines(*["the same"] * 5, *"abcde")) is None
    assert collapse_warning(make_headlines(*["the same"] * 9)) is None  # too few texts


def test_no_collapse_warning_for_repeated_texts():
    same = [Headline("one text", "one headline", "reference")] * 20
    assert collapse_warning(same) is None


@pytest.mark.parametrize(
    ("total", "max_count", "expected"),
    [(10, 3, [0, 4, 9]), (3, 10, [0, 1, 2]), (5, 0, []), (5, 1, [0])],
)
def test_evenly_spaced_returns_indices(total, max_count, expected):
    assert evenly_spaced(total, max_count) == expected
