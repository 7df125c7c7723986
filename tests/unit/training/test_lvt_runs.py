"""Runs with everything of Nallapati et al. 2016: shortlist, switch and features."""

import pytest
import torch

from readagain.config.features import PARTS_OF_SPEECH
from readagain.engine.summarizer import Summarizer
from readagain.export.check import check_graphs, random_texts
from readagain.export.write import describe_export, folder_graphs, write_graphs
from readagain.model_dir import ModelDir
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
    folder = ModelDir.open(job.out, checksums=True)
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


def test_its_graphs_write_what_it_writes_alone_and_in_a_batch(make_job, run_job):
    job = make_job(*RICH, "train=modern", "train.epochs=4", preset="lvt2k_1sent")
    run_job(job)
    folder = ModelDir.open(job.out)
    graphs = folder_graphs(folder, ["float32"])
    check = check_graphs(folder, graphs, random_texts(folder, 8), origin="random", threads=1)
    assert check.same_n_best == 1.0
    write_graphs(folder, graphs, describe_export(graphs, check.to_dict()))
    summarizer = Summarizer.load(job.out, threads=1)
    texts = [
        "The museum of Corvalec burns on Monday after 7 years .",
        "The school of Zyxwick moves on Monday after 12 years of repairs .",
    ]
    together = [summary.text for summary in summarizer.summarize(texts)]
    assert together == [summarizer.summarize(text).text for text in texts]
