"""Score a corpus: count every item, average, and put an interval around the average."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from itertools import pairwise, repeat
from multiprocessing import get_context

import numpy as np
from numpy.typing import NDArray

from readagain.counts import counted
from readagain.errors import ArgumentError, DataError
from readagain.rouge.bootstrap import interval, resampled_sums, script_order
from readagain.rouge.measures import Measure, build_measures
from readagain.rouge.options import FIGURES, RougeOptions
from readagain.rouge.protocol import Protocol, find_protocol
from readagain.rouge.report import Estimate, Report, Score
from readagain.rouge.scores import (
    DECIMALS,
    Item,
    Numbers,
    count_items,
    item_scores,
    pooled_scores,
)

# More pieces than workers, so that a piece of long texts does not keep everybody waiting.
_PIECES_PER_WORKER = 4


def score_corpus(
    summaries: Sequence[str],
    references: Sequence[Sequence[str]],
    protocol: Protocol | str,
    *,
    workers: int = 1,
) -> Report:
    """Score summaries against their references, as ROUGE-1.5.5 would.

    The sentences of a text stand on lines of their own, which only matters for ROUGE-L and
    ROUGE-W.

    Args:
        summaries: one text for each item.
        references: for each item, one or more texts.
        protocol: the name of one, or one of your own.
        workers: processes to share the work; the result is the same with any number.

    >>> report = score_corpus(["the cat sat"], [["a cat sat down"]], "gigaword")
    >>> report["rouge-1"].recall.value, report["rouge-1"].precision.value
    (0.5, 0.66667)
    """
    protocol = find_protocol(protocol) if isinstance(protocol, str) else protocol
    options = protocol.options
    items = _pair_up(summaries, references, options)
    if workers < 1:
        raise ArgumentError("{workers} is {0}; expected 1 or more", workers)
    measures = build_measures(options)
    with _mapping(workers) as run:
        pieces = _pieces(len(items), 1 if workers == 1 else workers * _PIECES_PER_WORKER)
        texts = [items[piece.start : piece.stop] for piece in pieces]
        starts = [piece.start for piece in pieces]
        counts = np.concatenate(list(run(count_items, repeat(options), texts, starts)))
        scores = item_scores(counts, measures, options.alpha)
        averaged = (counts if options.unit == "token" else scores)[_order(items, options)]
        # A sample costs the same as any other, and many drawn together cost less.
        seeds = _pieces(options.samples, workers)
        flat = averaged.reshape(len(averaged), -1)
        sums = np.concatenate(list(run(resampled_sums, repeat(flat), seeds)))
    sampled = _figures(sums.reshape(-1, *averaged.shape[1:]), len(averaged), options)
    return Report(
        scores=_estimate(sampled, measures, options),
        item_scores=_average_evaluations(scores, items, options),
        protocol=protocol,
        fingerprint=fingerprint(items),
    )


def fingerprint(items: Sequence[Item]) -> str:
    """Hash all texts with their lengths, so that no two corpora look alike."""
    digest = hashlib.sha256()
    for summary, references in items:
        digest.update(b"%d\n" % len(references))
        for text in (summary, *references):
            encoded = text.encode("utf-8", "surrogatepass")
            digest.update(b"%d\n" % len(encoded) + encoded)
    return digest.hexdigest()


@contextmanager
def _mapping(workers: int) -> Iterator[Callable[..., Iterable[Numbers]]]:
    """Offer `map` over this process, or over as many others as there are workers."""
    if workers == 1:
        yield map
        return
    # Started anew rather than forked: forking a process that has threads can deadlock.
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as executor:
        yield executor.map


def _pieces(size: int, count: int) -> list[range]:
    """Cut 0 .. size into so many ranges of about equal length, fewer where there is too little."""
    count = min(size, count)
    ends = [size * piece // count for piece in range(count + 1)]
    return [range(start, end) for start, end in pairwise(ends)]


def _pair_up(
    summaries: Sequence[str], references: Sequence[Sequence[str]], options: RougeOptions
) -> list[Item]:
    if isinstance(summaries, str):
        raise DataError("the summaries are a bare string; expected a list of them")
    if len(summaries) != len(references):
        raise DataError(
            f"{counted(len(summaries), 'summary', 'summaries')} but "
            f"{counted(len(references), 'list')} of references; "
            "expected one list for each summary"
        )
    if not summaries:
        raise DataError("no summaries; expected at least one to score")
    fewest = 2 if options.pooling == "jackknife" else 1
    for number, texts in enumerate(references, start=1):
        if isinstance(texts, str):
            raise DataError(f"item {number}: a bare string; expected a list of references")
        if len(texts) < fewest:
            raise DataError(
                f"item {number}: {counted(len(texts), 'reference')}; expected {fewest} or more"
                + (" for the jackknife" if fewest > 1 else "")
            )
    return list(zip(summaries, references, strict=True))


def _order(items: list[Item], options: RougeOptions) -> NDArray[np.intp]:
    """Order evaluations by the names one gives them for the script."""
    if options.pooling != "jackknife":
        return script_order([str(number) for number in range(1, len(items) + 1)])
    return script_order(
        [
            f"{number}-{left_out}"
            for number, (_, references) in enumerate(items, start=1)
            for left_out in range(1, len(references) + 1)
        ]
    )


def _figures(sums: Numbers, size: int, options: RougeOptions) -> Numbers:
    """Turn the sums of every bootstrap sample into its recall, precision and F."""
    return pooled_scores(sums, options.alpha) if options.unit == "token" else sums / size


def _estimate(sampled: Numbers, measures: list[Measure], options: RougeOptions) -> dict[str, Score]:
    # In the order of the samples, not pairwise: the script's sum to the last bit.
    means = np.add.accumulate(sampled)[-1] / len(sampled)  # (measures, 3)
    low, high = interval(sampled, options.confidence)
    printed = np.stack([means, low, high], axis=-1).tolist()
    scores = {}
    for measure, figures in zip(measures, printed, strict=True):
        estimates = [Estimate(*(round(end, DECIMALS) for end in ends)) for ends in figures]
        scores[measure.name] = Score(**dict(zip(FIGURES, estimates, strict=True)))
    return scores


def _average_evaluations(scores: Numbers, items: list[Item], options: RougeOptions) -> Numbers:
    """Return one row for each item, also where the jackknife made several."""
    if options.pooling != "jackknife":
        return scores
    sizes = [len(references) for _, references in items]
    starts = np.cumsum([0, *sizes[:-1]])
    sums: Numbers = np.add.reduceat(scores, starts)
    means: Numbers = sums / np.array(sizes)[:, None, None]
    return means
