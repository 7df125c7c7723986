"""Comparison of the summaries of exported graphs with those of their network."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
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
"""Number of summaries per text to compare."""
MAX_BATCH_SIZE = 16
SCORE_TOLERANCE = 1e-3
"""Largest difference of two scores that count as equal."""
MIN_SAME = 0.995
"""Fraction of texts whose n-best lists must agree; rounding may change the order of near ties."""
MIN_TEXTS_FOR_ONE_TIE = 20
"""With at least this many texts, one n-best list may differ even if that is above 1 - MIN_SAME."""
MAX_ROUGE_DROP = 0.3
"""Largest allowed drop of a ROUGE score, in points, by int8 or by a shortlist."""
FULL_VOCAB = "whole"
"""Name in `export.json` of the network without a shortlist, if the graphs have one."""


@dataclass(frozen=True)
class CheckText:
    """Tokenized text, one sentence per line, and its reference headline."""

    text: str
    reference: str | None = None


@dataclass(frozen=True)
class Check:
    """Result of the comparison, written to `export.json`.

    Args:
        texts: number of texts.
        origin: where the texts come from.
        same_n_best: fraction of texts whose n-best list is the same from the float32 graphs and
            from the network, with scores within `SCORE_TOLERANCE`; None if float32 was not
            exported.
        largest_score_difference: largest difference between hypotheses of the same rank.
        int8_same_best: fraction of texts whose best summary is the same from the int8 graphs and
            from the network; None if int8 was not exported.
        rouge: ROUGE F1 in points by back end, if there are references; includes
            `FULL_VOCAB` for graphs with a shortlist.
        same_as_whole: by precision, fraction of texts whose best summary is the same from the
            graphs with a shortlist and from the network without one; empty if the graphs have no
            shortlist.
    """

    texts: int
    origin: str
    same_n_best: float | None
    largest_score_difference: float | None
    int8_same_best: float | None
    rouge: dict[str, dict[str, float]]
    same_as_whole: dict[str, float]


def corpus_texts(corpus_dir: Path, max_texts: int, *, with_train: bool = False) -> list[CheckText]:
    """Return up to `max_texts` dev texts of a prepared corpus as training tokenizes them.

    With `with_train`, training texts are added if there are fewer dev texts. They cannot measure
    the quality of the model, only the difference between precisions.

    Raises:
        DataError: if the dev split is empty.
    """
    corpus = PreparedCorpus.open(corpus_dir)
    splits = [corpus.split("dev")]
    if not len(splits[0]):
        raise DataError(
            f"{corpus_dir}: no dev pairs to check on; prepare a corpus with a dev split"
        )
    if with_train:
        splits.append(corpus.split("train"))
    pairs = (split[index] for split in splits for index in range(len(split)))
    return [
        CheckText("\n".join(map(corpus.lexicon.decode, sentences)), corpus.lexicon.decode(summary))
        for sentences, summary in islice(pairs, max_texts)
    ]


def random_texts(model_dir: ModelDir, count: int) -> list[CheckText]:
    """Return texts of random words, some outside the vocabulary, from a fixed seed."""
    random = np.random.default_rng(0)
    data = model_dir.run.data
    words = model_dir.source_vocab.words[len(SPECIAL_TOKENS) :]
    texts = []
    for _ in range(count):
        sentences = []
        for _ in range(data.num_sentences):
            length = int(random.integers(3, data.max_source_words + 1))
            chosen = [words[index] for index in random.integers(0, len(words), length)]
            for position in random.integers(0, length, 1 + length // 8):
                chosen[position] = f"oov-{position % 3}"
            sentences.append(" ".join(chosen))
        texts.append(CheckText("\n".join(sentences)))
    return texts


def check_graphs(
    model_dir: ModelDir,
    graphs: Graphs,
    texts: Sequence[CheckText],
    *,
    origin: str,
    threads: int,
    full_vocab_model: ModelDir | None = None,
) -> Check:
    """Summarize texts with a network and its graphs, and compare the summaries.

    `origin` says where the texts come from. `full_vocab_model` is the model without a shortlist
    (see `write.with_shortlist`), to measure how much the shortlist lowers ROUGE; the texts then
    need references.

    Raises:
        ArtifactError: if float32 gives other summaries, or int8 or a shortlist lowers ROUGE by
            more than `MAX_ROUGE_DROP`.
        DataError: if there are no references to measure a shortlist.
    """
    if full_vocab_model is not None and any(text.reference is None for text in texts):
        raise DataError(
            f"{model_dir.path}: the effect of a shortlist is measured in ROUGE, but {origin} have "
            "no reference headlines; check on a prepared corpus"
        )
    torch.set_num_threads(threads)
    network = {"torch": model_dir, FULL_VOCAB: full_vocab_model}
    models: dict[str, StepModel[Any]] = {
        name: TorchStepModel(load_network(each, purpose="checking the graphs"))
        for name, each in network.items()
        if each is not None
    }
    for precision, contents in graphs.items():
        models[precision] = OnnxStepModel.open(*contents, threads=threads)
    summaries = {name: list(_summaries(model_dir, model, texts)) for name, model in models.items()}
    same_n_best, largest_difference = _n_best_agreement(summaries)
    check = Check(
        texts=len(texts),
        origin=origin,
        same_n_best=same_n_best,
        largest_score_difference=largest_difference,
        int8_same_best=_same_best(summaries, "int8", "torch") if "int8" in graphs else None,
        rouge=_rouge(summaries, texts),
        same_as_whole={
            each: _same_best(summaries, each, FULL_VOCAB) for each in graphs if full_vocab_model
        },
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
    # Reranking turns rounding errors into other n-best lists: MBR utilities are often equal.
    decode = replace(run.decode, consensus=0.0, word_reward=0.0)
    n_best = min(N_BEST, decode.beam_size)

    def words_of(hypothesis: Hypothesis, source: SourceText) -> str:
        return " ".join(token.norm for token in detokenizer.tokens(hypothesis, source))

    def summarize(sources: list[SourceText]) -> list[NBestList]:
        readable = [source for source in sources if not source.is_empty]
        lists: dict[int, NBestList] = {}
        if readable:
            batch = reader.batch(readable)
            decoded = decode_sources(model, batch, decode, n_best=n_best)
            for source, hypotheses in zip(readable, decoded, strict=True):
                lists[id(source)] = [(words_of(each, source), each.score) for each in hypotheses]
        return [lists.get(id(source), []) for source in sources]

    return bucketed_batches(
        (reader.read(text.text, tokenized=True) for text in texts),
        summarize,
        length=lambda source: source.max_length,
        max_words=MAX_BATCH_SIZE * run.data.max_source_words,
        max_items=MAX_BATCH_SIZE,
        window=64 * MAX_BATCH_SIZE,
    )


def _best(n_best: NBestList) -> str:
    return n_best[0][0] if n_best else ""


def _n_best_agreement(
    summaries: dict[str, list[NBestList]],
) -> tuple[float | None, float | None]:
    """Return `same_n_best` and `largest_score_difference` of a check."""
    if "float32" not in summaries:
        return None, None
    num_same, largest = 0, 0.0
    for graph_list, network_list in zip(summaries["float32"], summaries["torch"], strict=True):
        if len(graph_list) != len(network_list):
            continue
        ranks = zip(graph_list, network_list, strict=True)
        difference = max((abs(score - other) for (_, score), (_, other) in ranks), default=0.0)
        largest = max(largest, difference)
        num_same += (
            difference <= SCORE_TOLERANCE
            and _contains_all(network_list, graph_list)
            and _contains_all(graph_list, network_list)
        )
    return num_same / len(summaries["torch"]), largest


def _contains_all(n_best: NBestList, summaries: NBestList) -> bool:
    """Return whether an n-best list contains all summaries of another one.

    A summary other than the best may be missing if its score is within `SCORE_TOLERANCE` of the
    lowest score of the list.
    """
    contained = {words for words, _ in n_best}
    lowest = min((score for _, score in n_best), default=0.0) + SCORE_TOLERANCE
    return all(
        words in contained or (rank > 0 and score <= lowest)
        for rank, (words, score) in enumerate(summaries)
    )


def _same_best(summaries: dict[str, list[NBestList]], one: str, other: str) -> float:
    """Return the fraction of texts with the same best summary from two back ends."""
    pairs = zip(summaries[one], summaries[other], strict=True)
    return float(np.mean([_best(first) == _best(second) for first, second in pairs]))


def _rouge(
    summaries: dict[str, list[NBestList]], texts: Sequence[CheckText]
) -> dict[str, dict[str, float]]:
    """Score every back end against the references; return {} without references."""
    references = [[text.reference] for text in texts if text.reference is not None]
    if len(references) < len(texts):
        return {}
    scores = {}
    for name, n_best_lists in summaries.items():
        report = score_corpus([_best(each) for each in n_best_lists], references, UNICODE)
        scores[name] = {
            measure: round(100 * report[measure].f1.value, 3)
            for measure in ("rouge-1", "rouge-2", "rouge-l")
        }
    return scores


def _is_same(fraction: float, texts: int) -> bool:
    differing = round((1 - fraction) * texts)
    return fraction >= MIN_SAME or (differing == 1 and texts >= MIN_TEXTS_FOR_ONE_TIE)


def _raise_if_different(check: Check, *, where: str) -> None:
    if check.same_n_best is not None and not _is_same(check.same_n_best, check.texts):
        raise ArtifactError(
            f"{where}: the float32 graphs agree with the network on only "
            f"{check.same_n_best:.1%} of {pluralize(check.texts, 'text')}; "
            f"expected {MIN_SAME:.1%}; nothing was written; an undertrained network has many "
            "near ties; train longer or check on more texts; otherwise report this as a bug"
        )
    if (drop := _largest_drop(check, "int8", reference="torch")) is not None:
        raise ArtifactError(
            f"{where}: int8 lowers ROUGE by {drop}; nothing was written; use the precision float32"
        )
    for precision in check.same_as_whole:
        if (drop := _largest_drop(check, precision, reference=FULL_VOCAB)) is not None:
            raise ArtifactError(
                f"{where}: with the shortlist, {precision} lowers ROUGE by {drop}; nothing was "
                "written; use a larger shortlist or none"
            )


def _largest_drop(check: Check, name: str, *, reference: str) -> str | None:
    """Describe the largest drop of ROUGE from another back end; None if acceptable."""
    if name not in check.rouge:
        return None
    drops = {
        measure: score - check.rouge[name][measure]
        for measure, score in check.rouge[reference].items()
    }
    measure = max(drops, key=lambda each: drops[each])
    if drops[measure] <= MAX_ROUGE_DROP:
        return None
    return (
        f"{drops[measure]:.2f} points ({measure}) on {pluralize(check.texts, 'text')}; "
        f"expected at most {MAX_ROUGE_DROP}"
    )
