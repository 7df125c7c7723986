"""Comparison of exported graphs with their network, on the summaries of the same texts."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import torch

from readagain.corpus.shards import PreparedCorpus
from readagain.counts import pluralize
from readagain.engine.detokenizer import Detokenizer
from readagain.engine.onnx_model import OnnxStepModel
from readagain.engine.source import SourceReader, SourceText
from readagain.errors import ArtifactError, DataError
from readagain.export.write import Graphs
from readagain.model_dir import ModelDir
from readagain.networks.build import load_network
from readagain.networks.step_model import TorchStepModel
from readagain.rouge.corpus import score_corpus
from readagain.rouge.options import UNICODE
from readagain.search.batching import bucketed_batches
from readagain.search.decoding import decode_sources
from readagain.search.hypotheses import Hypothesis
from readagain.search.model import StepModel
from readagain.text.vocab import SPECIAL_TOKENS

N_BEST = 5
MAX_TEXTS = 16
SCORE_TOLERANCE = 1e-3
MIN_SAME = 0.995
"""Fraction of texts whose n-best lists must agree; rounding may swap near ties."""
ENOUGH_TEXTS = 20
"""Number of texts from which one near tie is always allowed."""
MAX_LOSS = 0.3
"""Largest loss of a ROUGE score, in points, by int8 or by a shortlist."""
WHOLE = "whole"
"""Name of the network without a shortlist, where the graphs have one."""


@dataclass(frozen=True)
class CheckText:
    """Tokenized text, one sentence a line, and its reference headline."""

    text: str
    reference: str | None = None


@dataclass(frozen=True)
class Check:
    """Result of the comparison, written to `export.json`.

    Args:
        texts: number of texts.
        origin: where the texts come from.
        same_n_best: fraction of texts with equal n-best lists of float32 graphs and network, scores
            within `SCORE_TOLERANCE`; None if float32 was not exported.
        largest_score_difference: largest difference between hypotheses of the same rank.
        int8_same_best: fraction of texts with equal best summaries of int8 graphs and network.
        rouge: ROUGE F1 in points by back end, if there are references; includes `WHOLE` for graphs
            with a shortlist.
        same_as_whole: by precision, fraction of texts with equal best summaries of graphs with a
            shortlist and network without; empty without a shortlist.
    """

    texts: int
    origin: str
    same_n_best: float | None
    largest_score_difference: float | None
    int8_same_best: float | None
    rouge: dict[str, dict[str, float]]
    same_as_whole: dict[str, float]


def corpus_texts(prepared: Path, most: int, *, with_train: bool = False) -> list[CheckText]:
    """Return dev texts of a prepared corpus as training tokenizes them.

    Args:
        prepared: the prepared corpus.
        most: the maximum number of texts.
        with_train: add training texts if there are fewer dev texts. They do not measure the model,
            but the loss of a precision.

    Raises:
        DataError: if the dev split is empty.
    """
    corpus = PreparedCorpus.open(prepared)
    splits = [corpus.split("dev")]
    if not len(splits[0]):
        raise DataError(f"{prepared}: no dev pairs to check on; prepare a corpus with a dev split")
    if with_train:
        splits.append(corpus.split("train"))
    pairs = (split[index] for split in splits for index in range(len(split)))
    return [
        CheckText("\n".join(map(corpus.lexicon.spell, sentences)), corpus.lexicon.spell(summary))
        for sentences, summary in islice(pairs, most)
    ]


def random_texts(model_dir: ModelDir, count: int) -> list[CheckText]:
    """Return texts of random words, some outside the vocabulary, from a fixed seed."""
    random = np.random.default_rng(0)
    data = model_dir.run.data
    words = model_dir.source_vocab.words[len(SPECIAL_TOKENS) :]
    found = []
    for _ in range(count):
        sentences = []
        for _ in range(data.num_sentences):
            length = int(random.integers(3, data.max_source_words + 1))
            chosen = [words[index] for index in random.integers(0, len(words), length)]
            for position in random.integers(0, length, 1 + length // 8):
                chosen[position] = f"unheard-of-{position % 3}"
            sentences.append(" ".join(chosen))
        found.append(CheckText("\n".join(sentences)))
    return found


def check_graphs(
    model_dir: ModelDir,
    graphs: Graphs,
    texts: Sequence[CheckText],
    *,
    origin: str,
    threads: int,
    whole: ModelDir | None = None,
) -> Check:
    """Summarize texts with a network and its graphs, and compare the summaries.

    Args:
        model_dir: the model.
        graphs: its graphs.
        texts: texts to summarize.
        origin: where the texts come from.
        threads: threads of each back end.
        whole: the model without a shortlist (see `write.with_shortlist`), to measure its loss of
            ROUGE; the texts then need references.

    Raises:
        ArtifactError: if float32 gives other summaries, or int8 or a shortlist loses too much.
        DataError: if there are no references to measure a shortlist.
    """
    if whole is not None and any(text.reference is None for text in texts):
        raise DataError(
            f"{model_dir.path}: the loss of a shortlist is measured in ROUGE, but {origin} have no "
            "reference headlines; check on a prepared corpus"
        )
    torch.set_num_threads(threads)
    models: dict[str, StepModel[Any]] = {
        "torch": TorchStepModel(load_network(model_dir, purpose="checking the graphs"))
    }
    if whole is not None:
        models[WHOLE] = TorchStepModel(load_network(whole, purpose="checking the graphs"))
    for precision, contents in graphs.items():
        models[precision] = OnnxStepModel.open(*contents, threads=threads)
    found = {name: list(_summaries(model_dir, model, texts)) for name, model in models.items()}

    check = Check(
        texts=len(texts),
        origin=origin,
        rouge=_rouge(found, texts),
        int8_same_best=_fraction_same_best(found, "int8", "torch") if "int8" in found else None,
        same_as_whole={each: _fraction_same_best(found, each, WHOLE) for each in graphs}
        if whole is not None
        else {},
        **_n_best_agreement(found),
    )
    _raise_if_different(check, where=str(model_dir.path))
    return check


NBestList = list[tuple[str, float]]
"""Words and scores of the best summaries of a text; empty for a text without words."""


def _summaries(
    model_dir: ModelDir, model: StepModel[Any], texts: Sequence[CheckText]
) -> Iterator[NBestList]:
    run = model_dir.run
    reader = SourceReader(run, model_dir.source_vocab, model_dir.vocab)
    detokenizer = Detokenizer(model_dir.vocab)
    n_best = min(N_BEST, run.decode.beam_size)

    def words_of(hypothesis: Hypothesis, source: SourceText) -> str:
        return " ".join(token.norm for token in detokenizer.tokens(hypothesis, source))

    def summarize(sources: list[SourceText]) -> list[NBestList]:
        readable = [source for source in sources if not source.is_empty]
        lists = iter(
            decode_sources(
                model, reader.batch(readable), run.decode, n_best=n_best, keep_attention=True
            )
            if readable
            else ()
        )
        return [
            []
            if source.is_empty
            else [(words_of(each, source), each.score) for each in next(lists)]
            for source in sources
        ]

    return bucketed_batches(
        (reader.read(text.text, tokenized=True) for text in texts),
        summarize,
        length=lambda source: source.max_length,
        max_words=MAX_TEXTS * run.data.max_source_words,
        max_items=MAX_TEXTS,
        window=64 * MAX_TEXTS,
    )


def _best(n_best: NBestList) -> str:
    return n_best[0][0] if n_best else ""


def _n_best_agreement(found: dict[str, list[NBestList]]) -> dict[str, float | None]:
    if "float32" not in found:
        return {"same_n_best": None, "largest_score_difference": None}
    same, largest = 0, 0.0
    for ours, theirs in zip(found["float32"], found["torch"], strict=True):
        if len(ours) != len(theirs):
            continue
        differences = [
            abs(score - other) for (_, score), (_, other) in zip(ours, theirs, strict=True)
        ]
        difference = max(differences, default=0.0)
        largest = max(largest, difference)
        are_found = _are_found(ours, theirs) and _are_found(theirs, ours)
        same += difference <= SCORE_TOLERANCE and are_found
    return {"same_n_best": same / len(found["torch"]), "largest_score_difference": largest}


def _are_found(some: NBestList, others: NBestList) -> bool:
    """Return whether the summaries are in another n-best list, in any order of ties.

    All but the best may be missing if they tie with the last there.
    """
    known = {words for words, _ in others}
    lowest = min((score for _, score in others), default=0.0) + SCORE_TOLERANCE
    return all(
        words in known or (rank > 0 and score <= lowest) for rank, (words, score) in enumerate(some)
    )


def _fraction_same_best(found: dict[str, list[NBestList]], one: str, other: str) -> float:
    pairs = zip(found[one], found[other], strict=True)
    return float(np.mean([_best(ours) == _best(theirs) for ours, theirs in pairs]))


def _rouge(
    found: dict[str, list[NBestList]], texts: Sequence[CheckText]
) -> dict[str, dict[str, float]]:
    """Score every back end against the references; return {} without references."""
    references = [[text.reference] for text in texts if text.reference is not None]
    if len(references) < len(texts):
        return {}
    scores = {}
    for name, written in found.items():
        report = score_corpus([_best(each) for each in written], references, UNICODE)
        scores[name] = {
            measure: round(100 * report[measure].f1.value, 3)
            for measure in ("rouge-1", "rouge-2", "rouge-l")
        }
    return scores


def _is_same(share: float, texts: int) -> bool:
    differing = round((1 - share) * texts)
    return share >= MIN_SAME or (differing == 1 and texts >= ENOUGH_TEXTS)


def _raise_if_different(check: Check, *, where: str) -> None:
    if check.same_n_best is not None and not _is_same(check.same_n_best, check.texts):
        raise ArtifactError(
            f"{where}: the float32 graphs agree with the network on only "
            f"{check.same_n_best:.1%} of {pluralize(check.texts, 'text')}; "
            f"expected {MIN_SAME:.1%}; nothing was written; a network with little training has "
            "near ties: train longer or check on more texts; otherwise report this as a bug"
        )
    if (lost := _largest_loss(check, "int8", than="torch")) is not None:
        raise ArtifactError(
            f"{where}: int8 loses {lost}; nothing was written; use the precision float32"
        )
    for precision in check.same_as_whole:
        if (lost := _largest_loss(check, precision, than=WHOLE)) is not None:
            raise ArtifactError(
                f"{where}: with the shortlist {precision} loses {lost}; nothing was written; use "
                "a larger shortlist or none"
            )


def _largest_loss(check: Check, one: str, *, than: str) -> str | None:
    """Describe the largest loss of ROUGE against another back end; None if acceptable."""
    if one not in check.rouge:
        return None
    losses = {
        measure: before - check.rouge[one][measure] for measure, before in check.rouge[than].items()
    }
    measure = max(losses, key=lambda each: losses[each])
    if losses[measure] <= MAX_LOSS:
        return None
    return (
        f"{losses[measure]:.2f} points of {measure} on {pluralize(check.texts, 'text')}; "
        f"expected at most {MAX_LOSS}"
    )
