"""Tuning of the weights of extractive features: minimum error rate training (MERT, Och 2003).

Search can add weighted features to the score of a summary, such as the number of its bigrams that
are in the text (`search/features.py`). Each round of tuning decodes the data set and adds the
n-best summaries to those of earlier rounds. The next round uses the weights that rank these
summaries best by a metric, ROUGE. Tuning ends when a round finds no new summary.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from readagain.engine.source import SourceReader
from readagain.evaluation.dataset import DataSet
from readagain.evaluation.line_search import NBestLists, best_weights
from readagain.evaluation.network import NetworkSystem, TokenizedText
from readagain.rouge.options import SCORE_KINDS, Protocol, find_protocol
from readagain.rouge.scores import Numbers, score_items
from readagain.search.features import FEATURE_NAMES, count_features

TUNED_MEASURE = "rouge-1"
"""The metric is the recall or F1 of this measure, whichever the protocol reports."""
_WEIGHT_DECIMALS = 4
_FIRST_MAX_CHANGE = 4.0
"""Maximum change of a weight in the first rounds. The best weights of a weak network are 5 to 18,
so several rounds are needed to reach them."""


@dataclass(frozen=True, kw_only=True)
class Round:
    """Result of decoding the data set once.

    Args:
        weights: (F,) feature weights of the round.
        value: mean metric of the top-ranked summary of each text.
        num_new: number of summaries that no earlier round had found.
    """

    weights: Numbers
    value: float
    num_new: int

    @property
    def weights_by_name(self) -> dict[str, float]:
        """Weight of each feature."""
        return dict(zip(FEATURE_NAMES, self.weights.tolist(), strict=True))

    @property
    def settings(self) -> dict[str, float]:
        """Weights as settings of `decode`."""
        return _decode_settings(self.weights)


def tune(
    network: NetworkSystem,
    data: DataSet,
    protocol: str,
    *,
    max_rounds: int = 10,
    on_summary: Callable[[], None] = lambda: None,
) -> Iterator[Round]:
    """Yield the rounds of tuning; the first has all weights at 0.

    Each round starts from the best weights so far and changes each by a limited amount. After a
    round without a higher `value`, the maximum change is halved. The tuned weights are those of the
    round with the highest `value`.

    Args:
        network: a model, loaded with the settings of `protocol`.
        data: the data set to tune on.
        protocol: name of the protocol.
        max_rounds: maximum number of rounds.
        on_summary: function to call after each text of each round.
    """
    pool = _SummaryPool(network, data, find_protocol(protocol))
    best = pool.search(np.zeros(len(FEATURE_NAMES)), on_summary)
    yield best
    max_change = _FIRST_MAX_CHANGE
    for number in range(1, max_rounds):
        weights, _ = best_weights(
            pool.n_best_lists(), best.weights, max_change=max_change, seed=1 + number
        )
        result = pool.search(np.round(weights, _WEIGHT_DECIMALS), on_summary)
        yield result
        if not result.num_new:
            return
        if result.value > best.value:
            best = result
        else:
            max_change /= 2


class _Candidate(NamedTuple):
    """Summary of a text: its search score without features, (F,) features and metric."""

    base_score: float
    features: Numbers
    metric: float


class _SummaryPool:
    """Summaries of each text that any round has found, by their words."""

    def __init__(self, network: NetworkSystem, data: DataSet, protocol: Protocol) -> None:
        self._network, self._data, self._protocol = network, data, protocol
        run = network.summarizer.run
        reader = SourceReader(run, network.model_dir.source_vocab, network.model_dir.vocab)
        self._candidates: list[dict[tuple[str, ...], _Candidate]] = [{} for _ in data.rows]
        self._sentences: list[list[list[str]]] = []  # sentences that the model reads
        for row in data.rows:
            text = TokenizedText(row.text).masked if data.is_tokenized else row.text
            source = reader.read(text, tokenized=data.is_tokenized)
            norms = [word.norm for word in source.document.words]
            self._sentences.append(
                [[norms[position] for position in positions] for positions in source.sequences]
            )

    def search(self, weights: Numbers, on_summary: Callable[[], None]) -> Round:
        """Decode the data set with (F,) weights and add the new summaries to the pool."""
        num_before = self._count_summaries()
        summarizer = self._network.summarizer.with_decode(**_decode_settings(weights))
        decode = summarizer.run.decode
        n_best_lists = replace(self._network, summarizer=summarizer).summarize_n_best(
            [row.text for row in self._data.rows],
            is_tokenized=self._data.is_tokenized,
            n_best=decode.beam_size,
        )
        total = 0.0
        for row, sentences, candidates, n_best in zip(
            self._data.rows, self._sentences, self._candidates, n_best_lists, strict=True
        ):
            metrics = self._score([printed for printed, _ in n_best], row.references)
            for metric, (_, summary) in zip(metrics, n_best, strict=True):
                words = tuple(token.norm for token in summary.words)
                if words in candidates:
                    continue
                # The score is (log-probability + weights . features) / length penalty; the base
                # score is the score without features.
                penalty = (len(words) + 1) ** decode.length_penalty
                features = count_features(words, sentences) / penalty
                base_score = summary.score - float(features @ weights)
                candidates[words] = _Candidate(base_score, features, metric)
            first_words = tuple(token.norm for token in n_best[0][1].words)
            total += candidates[first_words].metric
            on_summary()
        return Round(
            weights=weights,
            value=total / len(self._candidates),
            num_new=self._count_summaries() - num_before,
        )

    def n_best_lists(self) -> NBestLists:
        """Return all summaries of the pool as arrays."""
        D, K = len(self._candidates), max(map(len, self._candidates))
        base = np.full((D, K), -np.inf)
        features = np.zeros((D, K, len(FEATURE_NAMES)))
        metrics = np.zeros((D, K))
        for document, candidates in enumerate(self._candidates):
            for index, candidate in enumerate(candidates.values()):
                base[document, index] = candidate.base_score
                features[document, index] = candidate.features
                metrics[document, index] = candidate.metric
        return NBestLists(base, features, metrics)

    def _score(self, summaries: list[str], references: Sequence[str]) -> list[float]:
        """Return the metric of each of several summaries of one text."""
        options = self._protocol.options
        scores = score_items(options, [(summary, references) for summary in summaries])
        column = options.measures.index(TUNED_MEASURE)
        kind = SCORE_KINDS.index(self._protocol.main_score)
        main_scores: list[float] = scores[:, column, kind].tolist()
        return main_scores

    def _count_summaries(self) -> int:
        return sum(map(len, self._candidates))


def _decode_settings(weights: Numbers) -> dict[str, float]:
    """Return weights as settings, with MBR reranking off, since it would change the ranking."""
    named = zip(FEATURE_NAMES, weights.tolist(), strict=True)
    return {f"{name}_bonus": weight for name, weight in named} | {"consensus": 0.0}
