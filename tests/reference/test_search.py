"""Batched beam search compared with slow searches that share no code with it."""

from itertools import product

import numpy as np
import pytest
from table_model import TableModel

from readagain.search.beam import beam_search
from readagain.search.constraints import (
    ByteLengthConstraint,
    ForcedPrefix,
    LengthConstraint,
    NoDoubledWord,
    NoRepeatedNgram,
)
from readagain.search.features import FeatureWeights
from readagain.search.finished import FinishedHypotheses
from readagain.search.model import SourceBatch
from readagain.search.scoring import Scoring
from readagain.text.vocab import BOS, EOS

V = 8  # four reserved words and four to generate
MAX_WORDS = 4
ENOUGH = 10_000  # more candidates, or hypotheses, than there are


def made_up_sources(rng, num_documents=6, num_sentences=2, max_length=4):
    """Invent documents with words that are known, unknown, repeated; with missing sentences."""
    shape = (num_documents, num_sentences, max_length)
    lengths = rng.integers(0, max_length + 1, size=shape[:2])
    lengths[:, 0] = np.maximum(lengths[:, 0], 1)
    words = rng.integers(EOS + 1, V + 3, size=shape).reshape(num_documents, -1)
    valid = (np.arange(max_length) < lengths[:, :, None]).reshape(num_documents, -1)
    extended = np.zeros_like(words)
    for document, place in zip(*np.nonzero(valid), strict=True):
        word = words[document, place]
        first = np.flatnonzero((words[document] == word) & valid[document])[0]
        extended[document, place] = word if word < V else V + first
    return SourceBatch(
        source_ids=np.where(valid, words, 0).reshape(shape),
        lengths=lengths,
        source_ext_ids=extended,
    )


def made_up_model(rng, *, with_ties=False):
    """Draw a table; with ties, from so few values that equal scores are everywhere."""
    table = np.zeros((V, V))
    if with_ties:
        table[:, EOS:] = rng.choice([0.125, 0.25], size=(V, V - EOS))
        table /= table.sum(axis=1, keepdims=True)
    else:
        table[:, EOS:] = rng.dirichlet(np.full(V - EOS, 0.7), size=V)
    return TableModel(table, copying=0.5)


def only(sources, document):
    """Return a batch of one document without padding."""
    longest = max(1, sources.lengths[document].max())
    N, L = sources.source_ids.shape[1:]
    extended = sources.source_ext_ids[document].reshape(N, L)[:, :longest]
    first = np.where(extended >= V, extended - V, 0)
    moved = V + first // L * longest + first % L  # flat positions in the narrower batch
    return SourceBatch(
        source_ids=sources.source_ids[[document], :, :longest],
        lengths=sources.lengths[[document]],
        source_ext_ids=np.where(extended >= V, moved, extended).reshape(1, -1),
    )


class OneByOne:
    """All continuations of a list of words, with constraints in plain Python."""

    def __init__(self, model, sources, document, *, length, ngram=0, **scoring):
        self.model, self.sources, self.document = model, sources, document
        self.length, self.ngram = length, ngram
        self.exponent = scoring.get("length_penalty", 0.0)
        self.features = scoring.get("features", FeatureWeights())
        self.seen = {}

    def _offers(self, words):
        previous = words[-1] if words else BOS
        if previous not in self.seen:  # the table looks at the last word alone
            state = self.model.select(self.model.start(self.sources), np.array([self.document]))
            self.seen[previous], _ = self.model.step(state, np.array([previous]), ENOUGH)
        return self.seen[previous]

    def bonus(self, words, id):
        """Return the feature score of an id after some words (Rush et al. 2015, section 5)."""
        N, L = self.sources.source_ids.shape[1:]
        valid = self.sources.source_valid[self.document]
        source = np.where(valid, self.sources.source_ext_ids[self.document], -1).reshape(N, L)
        pairs = [(n, j) for n in range(N) for j in range(L) if source[n, j] == id]

        def matches(size):
            behind = [*words, id][-size:]
            return len(behind) == size and any(
                j >= size - 1 and list(source[n, j - size + 1 : j + 1]) == behind for n, j in pairs
            )

        reorders = words and any(
            source[n, k] == words[-1] and (n, k) > place
            for place in pairs
            for n in range(N)
            for k in range(L)
        )
        return (
            self.features.unigram * matches(1)
            + self.features.bigram * matches(2)
            + self.features.trigram * matches(3)
            + self.features.reordering * bool(reorders)
        )

    def next_words(self, words):
        """Yield (id, score) of the candidates that the constraints allow, best first."""
        if self.features.is_zero:
            yield from self._next_words(words)
            return
        weighed = [(id, more + self.bonus(words, id)) for id, more in self._next_words(words)]
        yield from sorted(weighed, key=lambda each: -each[1])  # equals by probability

    def _next_words(self, words):
        candidates = self._offers(words)
        if len(words) == self.length.maximum:
            return
        for id, log_prob in zip(candidates.ids[0], candidates.log_probs[0], strict=True):
            longer = [*words, id]
            grams = [tuple(longer[i : i + self.ngram]) for i in range(len(longer) - self.ngram + 1)]
            repeats = self.ngram and len(grams) > len(set(grams))
            if log_prob > -np.inf and not repeats:
                yield id, log_prob

    def end(self, words):
        """Return the score of the end token; None if the summary is too short."""
        return self._offers(words).end_log_probs[0] if len(words) >= self.length.minimum else None

    def score(self, words, log_prob, num_scored):
        """Score a list of words with `num_scored` scored words."""
        return log_prob / num_scored**self.exponent

    def all_summaries(self):
        """Try every sequence of words."""
        found = []
        beginnings = [([], 0.0)]
        while beginnings:
            words, log_prob = beginnings.pop()
            if (end := self.end(words)) is not None:
                found.append((self.score(words, log_prob + end, len(words) + 1), words))
            beginnings += [([*words, id], log_prob + more) for id, more in self.next_words(words)]
        return sorted(found, key=lambda item: -item[0])

    def greedy(self):
        """Take the best there is until it is the end."""
        words, log_prob = [], 0.0
        while True:
            choices = [(more, 0, id) for id, more in self.next_words(words)]
            if (end := self.end(words)) is not None:
                choices.append((end, 1, EOS))
            more, _, id = max(choices, key=lambda choice: (choice[0], choice[1], -choice[2]))
            log_prob += more
            if id == EOS:
                return self.score(words, log_prob, len(words) + 1), words
            words = [*words, id]

    def beam(self, size):
        """Run the beam search that `beam_search` documents, one hypothesis at a time."""
        active, ended = [([], 0.0)], []
        while active and len(ended) < size:
            options = []
            for rank, (words, log_prob) in enumerate(active):
                num_scored = len(words) + 1
                if (end := self.end(words)) is not None:
                    total = log_prob + end
                    options.append((-self.score(words, total, num_scored), rank, -1, words, total))
                for order, (id, more) in enumerate(self.next_words(words)):
                    score = self.score(words, log_prob + more, num_scored)
                    options.append((-score, rank, order, [*words, id], log_prob + more))
            options.sort(key=lambda option: option[:3])
            best = options[: size - len(ended)]
            ended += [(-score, words) for score, _, order, words, _ in best if order < 0]
            active = [(words, total) for _, _, order, words, total in best if order >= 0]
        return sorted(ended, key=lambda item: -item[0])


SETTINGS = [
    {},
    {"length_penalty": 1.0},
    {"length_penalty": 0.6, "ngram": 1},
    {"ngram": 2},
    {"ngram": 2, "length_penalty": 0.5},
    {"features": FeatureWeights(unigram=0.7, bigram=1.1, trigram=2.0, reordering=-0.9)},
    {
        "features": FeatureWeights(unigram=2.0, bigram=-0.4, reordering=0.3),
        "length_penalty": 1.0,
        "ngram": 2,
    },
    {
        "features": FeatureWeights(unigram=-1.0, trigram=0.5),
        "length_penalty": 0.5,
    },
]


def search_with(model, sources, settings, *, length, **options):
    constraints = []
    if "ngram" in settings:
        constraints.append(NoRepeatedNgram(settings["ngram"]))
    scoring = Scoring(
        length_penalty=settings.get("length_penalty", 0.0),
        features=settings.get("features", FeatureWeights()),
    )
    return beam_search(
        model, sources, length=length, constraints=constraints, scoring=scoring, **options
    )


def assert_same(hypotheses, expected):
    assert [list(h.ids) for h in hypotheses] == [words for _, words in expected]
    np.testing.assert_allclose([h.score for h in hypotheses], [s for s, _ in expected], rtol=1e-9)


@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("seed", range(3))
def test_beam_of_one_equals_greedy_search(settings, seed):
    rng = np.random.default_rng(seed)
    model, sources = made_up_model(rng), made_up_sources(rng)
    length = LengthConstraint(minimum=1, maximum=6)
    found = search_with(model, sources, settings, length=length, beam_size=1)
    for document in range(len(sources)):
        plain = OneByOne(model, sources, document, length=length, **settings)
        assert_same(found[document], [plain.greedy()])


@pytest.mark.parametrize("settings", SETTINGS)
def test_wide_beam_equals_exhaustive_search(settings):
    rng = np.random.default_rng(11)
    model, sources = made_up_model(rng), made_up_sources(rng, num_documents=3)
    length = LengthConstraint(minimum=1, maximum=3)
    found = search_with(model, sources, settings, length=length, beam_size=ENOUGH, n_best=ENOUGH)
    for document in range(len(sources)):
        everything = OneByOne(model, sources, document, length=length, **settings).all_summaries()
        scores = {tuple(words): score for score, words in everything}
        assert {tuple(h.ids) for h in found[document]} == scores.keys()
        assert [h.score for h in found[document]] == pytest.approx(
            [scores[tuple(h.ids)] for h in found[document]]
        )
        assert [h.score for h in found[document]] == pytest.approx([s for s, _ in everything])


@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize(("seed", "with_ties"), [*product(range(2), [False, True])])
def test_batched_search_equals_plain_beam_search(settings, seed, with_ties):
    rng = np.random.default_rng(seed)
    model, sources = made_up_model(rng, with_ties=with_ties), made_up_sources(rng)
    length = LengthConstraint(minimum=2, maximum=MAX_WORDS)
    found = search_with(model, sources, settings, length=length, beam_size=3, n_best=3)
    for document in range(len(sources)):
        plain = OneByOne(model, sources, document, length=length, **settings)
        assert_same(found[document], plain.beam(3))


@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("with_ties", [False, True])
def test_single_document_equals_batch(settings, with_ties):
    rng = np.random.default_rng(3)
    model, sources = made_up_model(rng, with_ties=with_ties), made_up_sources(rng)
    options = {"length": LengthConstraint(minimum=1, maximum=6), "beam_size": 4, "n_best": 4}
    together = search_with(model, sources, settings, **options)
    for document in range(len(sources)):
        one = only(sources, document)
        (alone,) = search_with(model, one, settings, **options)
        assert [h.score for h in alone] == [h.score for h in together[document]]
        for mine, theirs in zip(alone, together[document], strict=True):
            known = mine.ids < V
            assert list(mine.ids[known]) == list(theirs.ids[known])
            np.testing.assert_array_equal(mine.copied_from, theirs.copied_from)
            np.testing.assert_array_equal(mine.log_probs, theirs.log_probs)
            np.testing.assert_array_equal(
                mine.attention, theirs.attention[:, :, : mine.attention.shape[2]]
            )


@pytest.mark.parametrize("with_ties", [False, True])
def test_document_order_changes_nothing(with_ties):
    rng = np.random.default_rng(4)
    model, sources = made_up_model(rng, with_ties=with_ties), made_up_sources(rng)
    order = rng.permutation(len(sources))
    turned = SourceBatch(
        source_ids=sources.source_ids[order],
        lengths=sources.lengths[order],
        source_ext_ids=sources.source_ext_ids[order],
    )
    options = {"length": LengthConstraint(maximum=6), "beam_size": 4, "n_best": 4}
    straight = beam_search(model, sources, **options)
    back = beam_search(model, turned, **options)
    for place, document in enumerate(order):
        assert [list(h.ids) for h in back[place]] == [list(h.ids) for h in straight[document]]
        assert [h.score for h in back[place]] == [h.score for h in straight[document]]


@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("n_best", [1, 3])
def test_early_stop_changes_nothing(settings, n_best, monkeypatch):
    rng = np.random.default_rng(5)
    model, sources = made_up_model(rng), made_up_sources(rng, num_documents=20)
    options = {"length": LengthConstraint(maximum=8), "beam_size": 6, "n_best": n_best}
    stopped = search_with(model, sources, settings, **options)
    monkeypatch.setattr(
        FinishedHypotheses,
        "is_done",
        lambda self, documents, bounds: np.zeros(len(documents), bool),
    )
    exhausted = search_with(model, sources, settings, **options)
    for early, late in zip(stopped, exhausted, strict=True):
        assert [list(h.ids) for h in early] == [list(h.ids) for h in late]


def test_byte_limit_keeps_the_best_fitting_summaries():
    rng = np.random.default_rng(6)
    model, sources = made_up_model(rng), made_up_sources(rng, num_documents=3)
    generated = np.array([0, 0, 0, 0, 1, 2, 5, 9])
    copied = rng.integers(1, 9, size=sources.source_ext_ids.shape)
    length = LengthConstraint(maximum=3)
    limit = ByteLengthConstraint(vocab_bytes=generated, source_bytes=copied, minimum=4, maximum=12)
    free = beam_search(model, sources, beam_size=ENOUGH, length=length, n_best=ENOUGH)
    limited = beam_search(
        model, sources, beam_size=ENOUGH, length=length, n_best=ENOUGH, constraints=[limit]
    )
    L = sources.source_ids.shape[2]
    for document in range(len(sources)):
        fitting = []
        for hypothesis in free[document]:
            sizes = [
                generated[id] if sentence < 0 else copied[document, sentence * L + word]
                for id, (sentence, word) in zip(hypothesis.ids, hypothesis.copied_from, strict=True)
            ]
            if sum(sizes) >= 4 and sum(sizes) + len(sizes) - 1 <= 12:
                fitting.append(list(hypothesis.ids))
        kept = [list(h.ids) for h in limited[document] if h.meets_min_length]
        assert kept == fitting


def test_forced_prefix_equals_filtered_free_search():
    rng = np.random.default_rng(7)
    model, sources = made_up_model(rng), made_up_sources(rng, num_documents=3)
    length = LengthConstraint(maximum=3)
    prefix = ForcedPrefix([[5], [], [6, 4]])
    free = beam_search(model, sources, beam_size=ENOUGH, length=length, n_best=ENOUGH)
    forced = beam_search(
        model, sources, beam_size=ENOUGH, length=length, n_best=ENOUGH, prefix=prefix
    )
    for document, beginning in enumerate([[5], [], [6, 4]]):
        P = len(beginning)
        expected = [
            (h.log_probs[P:].sum(), list(h.ids))
            for h in free[document]
            if list(h.ids[:P]) == beginning
        ]
        expected.sort(key=lambda item: -item[0])
        assert_same(forced[document], expected)


@pytest.mark.parametrize("seed", range(5))
def test_all_constraints_keep_documents_independent(seed):
    rng = np.random.default_rng(seed)
    model, sources = made_up_model(rng, with_ties=seed % 2 == 0), made_up_sources(rng)
    generated = rng.integers(1, 9, size=V)
    copied = rng.integers(1, 9, size=sources.source_ext_ids.shape)
    beginnings = [list(rng.integers(EOS + 1, V, size=n)) for n in (0, 2, 1, 0, 3, 0)]

    def found_in(documents):
        part = SourceBatch(
            source_ids=sources.source_ids[documents],
            lengths=sources.lengths[documents],
            source_ext_ids=sources.source_ext_ids[documents],
        )
        sizes = {"vocab_bytes": generated, "source_bytes": copied[documents]}
        return beam_search(
            model,
            part,
            beam_size=4,
            n_best=3,
            length=LengthConstraint(minimum=3, maximum=6),
            constraints=[
                NoRepeatedNgram(2),
                NoDoubledWord(),
                ByteLengthConstraint(**sizes, minimum=9, maximum=22),
            ],
            prefix=ForcedPrefix([beginnings[document] for document in documents]),
            scoring=Scoring(length_penalty=0.8, diversity=0.1),
        )

    together = found_in(list(range(len(sources))))
    assert any(together)
    for document, expected in enumerate(together):
        (alone,) = found_in([document])
        assert [h.ids.tolist() for h in alone] == [h.ids.tolist() for h in expected]
        assert [h.score for h in alone] == [h.score for h in expected]
        assert [h.meets_min_length for h in alone] == [h.meets_min_length for h in expected]
        assert all(
            h.ids[: len(beginnings[document])].tolist() == beginnings[document] for h in alone
        )
