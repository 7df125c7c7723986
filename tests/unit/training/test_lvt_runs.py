"""Runs with everything of Nallapati et al. 2016: shortlist, switch and features."""

import pytest
import torch

from readagain.config.features import PARTS_OF_SPEECH
from readagain.engine.folder import ModelFolder
from readagain.text.vocab import UNK
from readagain.training.finetune import TrainedModel

RICH = (
    "model.shortlist_size=20",
    "data.max_source_words=16",
    "model.output=switch",
    "model.feature_size=2",
)


def kinds_in(folder):
    return TrainedModel.open(folder).weights(TrainedModel.open(folder).words)[
        "source_features.kinds"
    ]


@pytest.mark.parametrize(
    "recipe",
    [(), ("train.averaging=last_k",), ("train=modern", "train.epochs=2", "train.batch_size=16")],
    ids=["its own", "averaged", "modern"],
)
def test_a_run_knows_the_kinds_of_its_words_and_keeps_them(make_job, run_job, recipe):
    job = make_job(*RICH, *recipe, preset="lvt2k_1sent")
    outcome, _ = run_job(job)
    assert outcome.is_finished
    folder = ModelFolder.open(job.out, checksums=True)
    kinds = kinds_in(job.out)
    the = folder.source_vocab.ids(["the"])[0]
    assert kinds[the, 0] == PARTS_OF_SPEECH.index("determiner")
    assert kinds[UNK, 0] == PARTS_OF_SPEECH.index("other")


def test_a_new_word_is_of_the_unknown_words_kinds(make_job, run_job, corpus):
    # The first run knows few source words, the second takes up thirty more.
    first = make_job(*RICH, preset="lvt2k_1sent", out="first")
    few = (*first.changes, "source_vocab_size=12")
    run_job(type(first)(**{**vars(first), "changes": few}))
    second = make_job(preset=None, begin_from=first.out, extend_vocab=30, out="second")
    outcome, _ = run_job(second)
    assert outcome.is_finished
    kinds = kinds_in(second.out)
    assert kinds.shape[0] > 12
    assert torch.equal(kinds[:12], kinds_in(first.out))
    assert torch.equal(kinds[12:], kinds[UNK].expand(kinds.shape[0] - 12, -1))
