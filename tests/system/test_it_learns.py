"""The paper's two main claims, tested with small networks on invented corpora.

Each test trains networks with the same number of updates on one core. Accuracy is the share of
greedy summaries that equal the reference.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pytest
import torch
from torch.nn.utils.rnn import pad_sequence

from readagain.config.override import override
from readagain.config.schema import RunSpec
from readagain.networks.build import build_model, count_parameters
from readagain.networks.step_model import TorchStepModel
from readagain.search.model import SourceBatch
from readagain.text.vocab import (
    BOS,
    EOS,
    PAD,
    SPECIAL_TOKENS,
    Vocab,
    extended_source_ids,
    extended_summary_ids,
)

pytestmark = pytest.mark.slow

Pair = tuple[list[str], list[str]]


@pytest.fixture(autouse=True)
def one_core() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@dataclass(frozen=True)
class SmallModel:
    """Settings of a network, and its vocabulary."""

    run: RunSpec
    vocab: Vocab

    @classmethod
    def of(cls, words: list[str], **changes: object) -> "SmallModel":
        vocab = Vocab([*SPECIAL_TOKENS, *words])
        sizes = {"vocab_size": len(vocab), "source_vocab_size": len(vocab), "model.dropout": 0.0}
        run = RunSpec(title="small", paper="none")
        return cls(override(run, sizes | changes), vocab)

    def train(self, pairs: list[Pair], *, updates: int, learning_rate: float) -> TorchStepModel:
        """Train on batches of 64 with AdamW and a falling learning rate."""
        torch.manual_seed(1)
        model = build_model(self.run)
        optimizer = torch.optim.AdamW(model.parameters(), weight_decay=0.0)
        schedule = torch.optim.lr_scheduler.OneCycleLR(
            optimizer, max_lr=learning_rate, total_steps=updates, pct_start=0.1
        )
        examples = self.tensors(pairs)
        for _ in range(updates):
            rows = torch.randint(len(pairs), (64,))
            batch = [tensor[rows] for tensor in examples]
            is_word = batch[-1] != PAD
            loss = -(model(*batch) * is_word).sum() / is_word.sum()
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
        return TorchStepModel(model.eval())

    def accuracy(self, model: TorchStepModel, pairs: list[Pair]) -> float:
        """Return the share of greedy summaries that equal the reference."""
        summaries = self.summarize(model, [source for source, _ in pairs])
        references = [summary for _, summary in pairs]
        return float(np.mean([a == b for a, b in zip(summaries, references, strict=True)]))

    def summarize(self, model: TorchStepModel, sources: list[list[str]]) -> list[list[str]]:
        """Return a summary of at most six words for each source, by greedy search."""
        source_ids, lengths, ext_ids, _, _ = self.tensors([(source, []) for source in sources])
        state = model.start(
            SourceBatch(
                source_ids=source_ids.numpy(),
                lengths=lengths.numpy(),
                source_ext_ids=ext_ids.numpy(),
            )
        )
        previous = np.full(len(sources), BOS)
        is_finished = np.zeros(len(sources), dtype=bool)
        summaries: list[list[str]] = [[] for _ in sources]
        for _ in range(6):
            best, state = model.step(state, previous, k=1)
            previous = best.ids[:, 0]
            is_finished |= best.end_log_probs >= best.log_probs[:, 0]
            for row in np.flatnonzero(~is_finished):
                word = [*self.vocab.words, *sources[row]][int(previous[row])]
                summaries[row].append(word)
        return summaries

    def tensors(self, pairs: list[Pair]) -> tuple[torch.Tensor, ...]:
        """Return the arguments of the forward pass of a network."""
        vocab = self.vocab
        summary_ids = [extended_summary_ids(summary, source, vocab) for source, summary in pairs]
        return (
            _padded([vocab.ids(source) for source, _ in pairs]).unsqueeze(1),
            torch.tensor([[len(source)] for source, _ in pairs]),
            _padded([extended_source_ids(source, vocab) for source, _ in pairs]),
            _padded([[BOS, *ids] for ids in summary_ids]),
            _padded([[*ids, EOS] for ids in summary_ids]),
        )


def _padded(rows: list[list[int]]) -> torch.Tensor:
    return pad_sequence([torch.tensor(row) for row in rows], batch_first=True, padding_value=PAD)


VERBS = ["visits", "sues", "praises", "meets", "leaves", "joins"]
OTHER_WORDS = [
    "officials", "said", "late", "that", "after", "talks", "about", "oil", "and", "trade",
]  # fmt: skip
DAYS = ["monday", "tuesday", "friday", "sunday"]


def invent_names(count: int, *, seed: int) -> list[str]:
    letters = random.Random(seed)
    names = {"".join(letters.choices("abdeiklmnorstuv", k=7)) for _ in range(count)}
    return sorted(names)


def invent_news(names: list[str], count: int, *, seed: int) -> list[Pair]:
    """Return texts with a subject, a verb and an object among other words, half of them passive.

    The summary is always active, so the words before and after a name decide its role.
    """
    choose = random.Random(seed)
    pairs = []
    for _ in range(count):
        subject, place, object = choose.sample(names, 3)
        verb = choose.choice(VERBS)
        before, after = (choose.sample(OTHER_WORDS, choose.randint(1, 4)) for _ in range(2))
        clause = choose.choice(
            [
                [subject, "from", place, verb, object],
                [object, "from", place, verb, "by", subject],
            ]
        )
        source = [*before, *clause, *after, choose.choice(DAYS)]
        pairs.append((source, [subject, verb, object]))
    return pairs


def test_unseen_names_are_copied_and_cannot_be_generated():
    known_words = [*VERBS, *OTHER_WORDS, *DAYS, "from", "by"]
    seen_names = invent_names(12, seed=1)
    unseen_names = [name for name in invent_names(80, seed=2) if name not in seen_names]
    news = invent_news(seen_names, 4000, seed=3)
    held_out = invent_news(seen_names, 300, seed=4)
    unseen = invent_news(unseen_names, 300, seed=5)
    sizes = {
        "model.embedding_size": 32,
        "model.encoder.cell": "gru",
        "model.encoder.hidden_size": 48,
        "model.decoder.hidden_size": 64,
        "model.decoder.attention_size": 32,
    }
    budget = {"updates": 600, "learning_rate": 5e-3}

    # The vocabulary of the baseline has all words of its training corpus, including names.
    copy = SmallModel.of(known_words, **sizes, **{"model.output": "copy"})
    softmax = SmallModel.of([*known_words, *seen_names], **sizes, **{"model.output": "softmax"})
    copy_model, softmax_model = (model.train(news, **budget) for model in (copy, softmax))

    accuracies = {
        "copy, unseen names": copy.accuracy(copy_model, unseen),
        "copy, seen names": copy.accuracy(copy_model, held_out),
        "softmax, unseen names": softmax.accuracy(softmax_model, unseen),
        "softmax, seen names": softmax.accuracy(softmax_model, held_out),
    }
    assert accuracies["copy, unseen names"] >= 0.95, accuracies
    assert accuracies["copy, seen names"] >= 0.95, accuracies
    assert accuracies["softmax, unseen names"] == 0.0, accuracies
    # The baseline has learned the task: it is right for names of its vocabulary.
    assert accuracies["softmax, seen names"] >= 0.9, accuracies


NALLAPATI = {
    "model.embedding_size": 32,
    "model.encoder.kind": "one_pass",
    "model.encoder.cell": "gru",
    "model.encoder.bidirectional": True,
    "model.encoder.hidden_size": 32,
    "model.decoder.cell": "gru",
    "model.decoder.hidden_size": 64,
    "model.decoder.attention_size": 32,
}


def test_sampled_vocabulary_is_learned():
    """A shortlist of 40 words has the names of a few sources, out of 400 names."""
    known_words = [*VERBS, *OTHER_WORDS, *DAYS, "from", "by"]
    names = invent_names(400, seed=2)
    shortlist = {
        "model.output": "softmax",
        "model.shortlist_size": 40,
        "model.shortlist_sources": 4,
        "data.max_source_words": 16,
    }
    small_model = SmallModel.of([*known_words, *names], **NALLAPATI, **shortlist)
    model = small_model.train(invent_news(names, 8000, seed=3), updates=800, learning_rate=5e-3)
    assert small_model.accuracy(model, invent_news(names, 300, seed=4)) >= 0.9


ABS = {"model.kind": "abs", "model.embedding_size": 16, "model.hidden_size": 32}
RAS = {"model.kind": "ras", "model.embedding_size": 32, "model.hidden_size": 64}


def invent_menus(count: int, *, seed: int) -> tuple[list[str], list[Pair]]:
    """Return texts with one dish of each of four courses in random order.

    The summary has the dishes of three courses in the order of the courses.
    """
    choose = random.Random(seed)
    courses = [[f"dish{i}-of-course{c}" for i in range(5)] for c in range(4)]
    pairs = []
    for _ in range(count):
        menu = [choose.choice(course) for course in courses]
        pairs.append((choose.sample(menu, len(menu)), [menu[0], menu[1], menu[3]]))
    return [dish for course in courses for dish in course], pairs


@pytest.mark.parametrize(
    "network",
    [
        ABS,
        RAS,
        RAS | {"model.cell": "lstm"},
    ],
    ids=["abs", "ras, elman", "ras, lstm"],
)
def test_baseline_learns_to_select_and_order_words(network):
    words, menus = invent_menus(4000, seed=1)
    _, unseen = invent_menus(300, seed=2)
    small_model = SmallModel.of(words, **network)
    model = small_model.train(menus, updates=300, learning_rate=1e-2)
    assert small_model.accuracy(model, unseen) >= 0.95


def test_ras_uses_word_order_and_abs_does_not():
    """The words around a name decide its role; only the convolution of RAS uses them."""
    names = invent_names(12, seed=1)
    known_words = [*VERBS, *OTHER_WORDS, *DAYS, "from", "by", *names]
    news, held_out = (invent_news(names, n, seed=seed) for n, seed in ((4000, 3), (300, 4)))
    budget = {"updates": 600, "learning_rate": 5e-3}
    accuracies = {}
    for name, network in {
        "elman": RAS,
        "lstm": RAS | {"model.cell": "lstm"},
        "abs": ABS | {"model.hidden_size": 64},
    }.items():
        small_model = SmallModel.of(known_words, **network)
        accuracies[name] = small_model.accuracy(small_model.train(news, **budget), held_out)
    assert accuracies["elman"] >= 0.95, accuracies
    assert accuracies["lstm"] >= 0.95, accuracies
    assert accuracies["abs"] < 0.75, accuracies


def invent_lists(count: int, *, seed: int) -> tuple[list[str], list[Pair]]:
    """Return texts with one thing of each kind in random order; the last word is a kind.

    The summary is the thing of that kind.
    """
    choose = random.Random(seed)
    kinds = [f"kind{k}" for k in range(8)]
    things = {kind: [f"thing{i}-of-{kind}" for i in range(4)] for kind in kinds}
    pairs = []
    for _ in range(count):
        listed = {kind: choose.choice(things[kind]) for kind in kinds}
        last = choose.choice(kinds)
        source = choose.sample(list(listed.values()), len(kinds))
        pairs.append(([*source, last], [listed[last]]))
    return [*kinds, *(thing for kind in kinds for thing in things[kind])], pairs


def test_second_pass_helps_when_the_end_decides():
    """Only the second pass of an encoder can use the last word to select an earlier word.

    The decoder cannot select it instead: with an attention size of 1, the score of a word hardly
    depends on the decoder state. With a larger attention size both encoders learn this task.
    """
    words, lists = invent_lists(8000, seed=1)
    _, unseen = invent_lists(500, seed=2)
    sizes = {
        "model.embedding_size": 16,
        "model.decoder.hidden_size": 32,
        "model.decoder.attention_size": 1,
        "model.output": "softmax",
        "model.encoder.cell": "gru",
    }
    budget = {"updates": 800, "learning_rate": 5e-3}

    two_pass = SmallModel.of(words, **sizes, **{"model.encoder.hidden_size": 64})
    one_pass = SmallModel.of(
        words, **sizes, **{"model.encoder.kind": "one_pass", "model.encoder.hidden_size": 98}
    )
    assert count_parameters(one_pass.run) >= count_parameters(two_pass.run)

    error_two_pass, error_one_pass = (
        1 - model.accuracy(model.train(lists, **budget), unseen) for model in (two_pass, one_pass)
    )
    assert error_two_pass < 0.25, (error_two_pass, error_one_pass)
    assert error_two_pass < error_one_pass / 2, (error_two_pass, error_one_pass)
