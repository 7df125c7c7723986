"""Tune the weights of extractive features.

Each round decodes the data set with the weights that are best for the n-best summaries of all
earlier rounds, and adds its summaries to them. Tuning ends when a round finds no new summary.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from readagain.engine.source import SourceReader
from readagain.errors import ArgumentError
from readagain.evaluation.dataset import DataSet
from readagain.evaluation.line_search import NBestLists, Numbers, best_weights
from readagain.evaluation.network import NetworkSystem, TokenizedText
from readagain.rouge.options import SCORE_KINDS, Protocol, find_protocol
from readagain.rouge.scores import score_items
from readagain.search.features import FEATURES, count_features

MEAN = "mean"
DECIMALS = 4  # number of decimals of the weights
# Maximum change of a weight in the first rounds. The best weights of a weak network are 5 to 18.
_FIRST_MAX_CHANGE = 4.0


@dataclass(frozen=True, kw_only=True)
class Round:
    """Result of decoding the data set once.

    Args:
        weights: (F,) feature weights of the round.
        value: mean metric of the best summaries.
        new: number of summaries that no earlier round had found.
        found: number of different summaries of all rounds so far.
    """

    weights: Numbers
    value: float
    new: int
    found: int

    @property
    def weights_by_name(self) -> dict[str, float]:
        """Weight of each feature."""
        return dict(zip(FEATURES, self.weights.tolist(), strict=True))

    @property
    def settings(self) -> dict[str, float]:
        """Weights as settings of `decode`."""
        return _settings(self.weights)


def tune(
    network: NetworkSystem,
    data: DataSet,
    protocol: str,
    *,
    objective: str,
    max_rounds: int,
    seed: int = 1,
    on_summary: Callable[[], None] = lambda: None,
) -> Iterator[Round]:
    """Yield the rounds of tuning; the first has all weights at 0.

    Each round starts from the best weights so far. After a round that does not improve, the
    maximum change is halved. The best weights are those of the round with the highest `value`.

    `network` must be loaded for the protocol. The objective is the score that the protocol reports
    (F1 or recall) for one measure such as `rouge-1`, or the `mean` over all measures.

    Raises:
        ArgumentError: for an unknown measure.
    """
    pool = _Pool(network, data, _metric(find_protocol(protocol), objective))
    best = pool.search(np.zeros(len(FEATURES)), on_summary)
    yield best
    max_change = _FIRST_MAX_CHANGE
    for number in range(1, max_rounds):
        weights, _ = best_weights(
            pool.lists(), best.weights, max_change=max_change, seed=seed + number
        )
        round_ = pool.search(np.round(weights, DECIMALS), on_summary)
        yield round_
        if not round_.new:
            return
        if round_.value > best.value:
            best = round_
        else:
            max_change /= 2


Metric = Callable[[list[str], Sequence[str]], Numbers]
"""Function from summaries of a text, and its references, to the metric of each summary."""


def _metric(protocol: Protocol, objective: str) -> Metric:
    options, names = protocol.options, protocol.options.measures
    if objective not in (*names, MEAN):
        message = "{objective} is '{0}'; expected {1} or {2}"
        raise ArgumentError(message, objective, ", ".join(names), MEAN)
    columns = [column for column, name in enumerate(names) if objective in (name, MEAN)]
    kind = SCORE_KINDS.index(protocol.main_score)

    def metric(summaries: list[str], references: Sequence[str]) -> Numbers:
        scores = score_items(options, [(summary, references) for summary in summaries])
        means: Numbers = scores[:, columns, kind].mean(axis=1)
        return means

    return metric


@dataclass
class _TextSummaries:
    """Different summaries of one text.

    Args:
        sentences: words of the text that the model reads, by sequence.
        words: index of each summary by its words.
        base: score of each summary without features.
        features: (F,) features of each summary.
        metrics: metric of each summary.
    """

    sentences: list[list[str]]
    words: dict[tuple[str, ...], int] = field(default_factory=dict)
    base: list[float] = field(default_factory=list)
    features: list[Numbers] = field(default_factory=list)
    metrics: list[float] = field(default_factory=list)


class _Pool:
    """Summaries of all rounds, by text."""

    def __init__(self, network: NetworkSystem, data: DataSet, metric: Metric) -> None:
        self._network, self._data, self._metric = network, data, metric
        run = network.summarizer.run
        reader = SourceReader(run, network.model_dir.source_vocab, network.model_dir.vocab)
        self._texts = []
        for row in data.rows:
            text = TokenizedText(row.text).for_model if data.is_tokenized else row.text
            source = reader.read(text, tokenized=data.is_tokenized)
            norms = [word.norm for word in source.document.words]
            sentences = [[norms[position] for position in each] for each in source.sequences]
            self._texts.append(_TextSummaries(sentences))

    def search(self, weights: Numbers, on_summary: Callable[[], None]) -> Round:
        """Decode the data set with `weights` and add the new summaries."""
        before = sum(len(known.words) for known in self._texts)
        summarizer = self._network.summarizer.with_decode(**_settings(weights))
        decode = summarizer.run.decode
        lists = replace(self._network, summarizer=summarizer).summarize_n_best(
            [row.text for row in self._data.rows],
            is_tokenized=self._data.is_tokenized,
            n_best=decode.beam_size,
        )
        value = 0.0
        for known, row, summaries in zip(self._texts, self._data.rows, lists, strict=True):
            texts = []
            for text, summary in summaries:
                words = tuple(token.norm for token in summary.words)
                if words in known.words:
                    continue
                known.words[words] = len(known.words)
                # The score is (log-probability + weights . features) / length penalty; the base is
                # the score without features.
                penalty = (len(words) + 1) ** decode.length_penalty
                features = count_features(words, known.sentences) / penalty
                known.base.append(summary.score - float(features @ weights))
                known.features.append(features)
                texts.append(text)
            if texts:
                known.metrics += self._metric(texts, row.references).tolist()
            best = tuple(token.norm for token in summaries[0][1].words)
            value += known.metrics[known.words[best]]
            on_summary()
        after = sum(len(known.words) for known in self._texts)
        return Round(
            weights=weights, value=value / len(self._texts), new=after - before, found=after
        )

    def lists(self) -> NBestLists:
        """Return all summaries as arrays."""
        D, K = len(self._texts), max(len(known.words) for known in self._texts)
        base = np.full((D, K), -np.inf)
        features = np.zeros((D, K, len(FEATURES)))
        metrics = np.zeros((D, K))
        for document, known in enumerate(self._texts):
            n = len(known.words)
            base[document, :n] = known.base
            features[document, :n] = known.features
            metrics[document, :n] = known.metrics
        return NBestLists(base, features, metrics)


def _settings(weights: Numbers) -> dict[str, float]:
    """Return weights as settings, without MBR reranking, which would change the ranking."""
    named = zip(FEATURES, weights.tolist(), strict=True)
    return {f"{name}_bonus": weight for name, weight in named} | {"consensus": 0.0}
