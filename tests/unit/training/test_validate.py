"""Validation: the loss of dev pairs, their headlines in words, and signs of collapse."""

import numpy as np
import pytest
import torch

from readagain.config.schema import DataSpec
from readagain.networks.build import build_model
from readagain.training.headlines import Headline, read_sentences
from readagain.training.job import resolve
from readagain.training.stop_signal import StopSignal
from readagain.training.validate import Validator, collapse_warning, spread


@pytest.fixture
def validator(make_job):
    job = resolve(make_job())
    torch.manual_seed(0)
    model = build_model(job.run)
    dev = job.corpus.split("dev")
    return Validator(dev, job.corpus.lexicon, job.vocabs, job.run, torch.device("cpu")), model


def test_validate_returns_scores_and_headlines(validator):
    validator, model = validator
    found = validator.validate(model, step=5, stop=StopSignal())
    assert found.scores.step == 5
    assert 0 <= found.scores.rouge_l <= 100
    assert len(found.samples) == 3
    assert all("on monday" in sample.reference for sample in found.samples)
    assert all(sample.source.startswith("the ") for sample in found.samples)


def test_dev_loss_is_mean_over_words(validator):
    validator, model = validator
    model.eval()
    whole = validator._loss(model, StopSignal())
    validator.batch_size = 7
    assert validator._loss(model, StopSignal()) == pytest.approx(whole, rel=1e-6)


def test_copied_oov_word_comes_from_the_text(make_job):
    job = resolve(make_job("vocab_size=8"))
    validator = Validator(
        job.corpus.split("dev"), job.corpus.lexicon, job.vocabs, job.run, torch.device("cpu")
    )
    sentences, _ = validator.writer.split[0]
    words = [job.corpus.lexicon.words[id] for id in sentences[0].tolist()]
    place = next(at for at, word in enumerate(words) if word not in job.vocabs.summary)
    V = len(job.vocabs.summary)
    assert validator.writer._word(V + place, sentences, 40) == words[place]
    assert validator.writer._word(V + 40 + 1, [sentences[0], sentences[0]], 40) == words[1]


def test_stop_signal_ends_validation(validator):
    validator, model = validator
    stop = StopSignal()
    stop.is_set = True
    assert validator.validate(model, step=5, stop=stop) is None


def test_validate_without_rouge_pairs_scores_loss_only(make_job):
    job = resolve(make_job("train.rouge_pairs=0"))
    dev = job.corpus.split("dev")
    validator = Validator(dev, job.corpus.lexicon, job.vocabs, job.run, torch.device("cpu"))
    found = validator.validate(build_model(job.run), step=1, stop=StopSignal())
    assert found.scores.rouge_1 is None
    assert (found.samples, found.warning) == ([], None)


def headlines(*written):
    return [Headline(n, f"text {n}", text, "reference") for n, text in enumerate(written)]


def test_collapse_warning_for_one_repeated_headline():
    collapsed = headlines(*["the same"] * 6, *"abcd")
    assert "6 of 10 different texts got the same headline, 'the same'" in collapse_warning(
        collapsed
    )


def test_no_collapse_warning_for_different_headlines():
    assert collapse_warning(headlines(*["the same"] * 5, *"abcde")) is None
    assert collapse_warning(headlines(*["the same"] * 9)) is None  # too few to tell


def test_no_collapse_warning_for_repeated_texts():
    same = [Headline(n, "one text", "one headline", "reference") for n in range(20)]
    assert collapse_warning(same) is None


@pytest.mark.parametrize(
    ("total", "wanted", "chosen"), [(10, 3, [0, 4, 9]), (3, 10, [0, 1, 2]), (5, 0, []), (5, 1, [0])]
)
def test_spread_returns_even_indices(total, wanted, chosen):
    assert spread(total, wanted) == chosen


def test_read_sentences_truncates_and_joins():
    sentences = [np.arange(4), np.arange(10, 13), np.arange(20, 22)]
    apart = read_sentences(sentences, DataSpec(num_sentences=2, max_source_words=3))
    assert [each.tolist() for each in apart] == [[0, 1, 2], [10, 11, 12]]
    spec = DataSpec(num_sentences=2, join_sentences=True, max_source_words=6)
    (joined,) = read_sentences(sentences, spec)
    assert joined.tolist() == [0, 1, 2, 3, 10, 11]
