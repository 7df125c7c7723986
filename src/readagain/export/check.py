"""Check of exported graphs: their summaries are compared with those of the network."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import torch

from readagain.corpus.shards import PreparedCorpus
from readagain.engine.detokenizer import Detokenizer
from readagain.engine.onnx_model import OnnxStepModel
from readagain.engine.source import SourceReader, SourceText
from readagain.errors import ArtifactError, DataError, pluralize
from readagain.export.write import Graphs
from readagain.model_dir import ModelDir
from readagain.networks.build import load_network
from readagain.networks.step_model import TorchStepModel
from readagain.rouge.corpus import score_corpus
from readagain.rouge.options import MEASURES, UNICODE_PROTOCOL
from readagain.search.batching import bucketed_batches
from readagain.search.decoding import decode_sources
from readagain.search.hypotheses import Hypothesis
from readagain.search.model import StepModel
from readagain.text.vocab import SPECIAL_TOKENS

N_BEST = 5
"""Number of summaries per text to compare."""
MAX_BATCH_SIZE = 16
SCORE_TOLERANCE = 1e-3
"""Scores that differ by at most this much count as equal."""
MIN_SAME = 0.995
"""Minimum fraction of texts with the same n-best list. Rounding may swap summaries with almost
equal scores."""
MIN_TEXTS_FOR_ONE_TIE = 20
"""If there are at least this many texts, one of them may have a different n-best list."""
MAX_ROUGE_DROP = 0.3
"""Largest allowed drop of a ROUGE score, in points, by int8 or by a shortlist."""
NETWORK = "torch"
"""Name in `export.json` of the network from which the graphs were built."""
FULL_VOCAB = "whole"
"""Name in `export.json` of the network without a shortlist, if the graphs have a shortlist."""


@dataclass(frozen=True)
class CheckText:
    """Tokenized text, one sentence per line, and its reference headline if there is one."""

    text: str
    reference: str | None = None


@dataclass(frozen=True)
class Check:
    """Result of the comparison, written to `export.json`.

    Args:
        texts: number of texts.
        origin: where the texts come from.
        same_n_best: fraction of texts for which the float32 graphs and the network have the same
            n-best list, with scores within `SCORE_TOLERANCE`; None if float32 was not exported.
        largest_score_difference: largest difference between the scores of the float32 graphs and of
            the network at the same rank; None if float32 was not exported.
        int8_same_best: fraction of texts for which the int8 graphs and the network have the same
            best summary; None if int8 was not exported.
        rouge: ROUGE F1 in points, by precision and for `NETWORK` and `FULL_VOCAB`; empty if texts
            have no references.
        same_as_whole: by precision, fraction of texts for which the graphs with a shortlist and the
            network without one have the same best summary; empty if the graphs have no shortlist.
    """

    texts: int
    origin: str
    same_n_best: float | None
    largest_score_difference: float | None
    int8_same_best: float | None
    rouge: dict[str, dict[str, float]]
    same_as_whole: dict[str, float]


def corpus_texts(corpus_dir: Path, max_texts: int, *, with_train: bool = False) -> list[CheckText]:
    """Return up to `max_texts` dev texts of a prepared corpus.

    With `with_train`, training texts are added if there are fewer dev texts. Training texts cannot
    show the quality of the model, but they do show the difference between precisions.

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
    vocab_words = model_dir.source_vocab.words[len(SPECIAL_TOKENS) :]
    texts = []
    for _ in range(count):
        sentences = []
        for _ in range(data.num_sentences):
            length = int(random.integers(3, data.max_source_words + 1))
            words = [vocab_words[id_] for id_ in random.integers(0, len(vocab_words), length)]
            for position in random.integers(0, length, 1 + length // 8):  # about one in eight
                words[position] = f"oov-{position % 3}"
            sentences.append(" ".join(words))
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

    `origin` describes where the texts come from. If the graphs have a shortlist
    (`write.with_shortlist`), `full_vocab_model` is the model without it, to measure how much the
    shortlist lowers ROUGE. All texts then need references.

    Raises:
        ArtifactError: if the float32 graphs do not have the summaries of the network, or int8 or
            the shortlist lowers ROUGE by more than `MAX_ROUGE_DROP`.
    """
    torch.set_num_threads(threads)
    purpose = "checking the graphs"
    models: dict[str, StepModel[Any]] = {
        NETWORK: TorchStepModel(load_network(model_dir, purpose=purpose))
    }
    if full_vocab_model is not None:
        models[FULL_VOCAB] = TorchStepModel(load_network(full_vocab_model, purpose=purpose))
    for precision, contents in graphs.items():
        models[precision] = OnnxStepModel.open(*contents, threads=threads)
    summaries = {name: list(_summarize(model_dir, model, texts)) for name, model in models.items()}
    same_n_best, largest_difference = _n_best_agreement(summaries)
    check = Check(
        texts=len(texts),
        origin=origin,
        same_n_best=same_n_best,
        largest_score_difference=largest_difference,
        int8_same_best=_same_best(summaries, "int8", NETWORK) if "int8" in graphs else None,
        rouge=_rouge(summaries, texts),
        same_as_whole={
            precision: _same_best(summaries, precision, FULL_VOCAB)
            for precision in graphs
            if full_vocab_model is not None
        },
    )
    _raise_if_rejected(check, where=str(model_dir.path))
    return check


NBestList = list[tuple[str, float]]
"""Words and score of each of the best summaries of a text; empty for a text without words."""


def _summarize(
    model_dir: ModelDir, model: StepModel[Any], texts: Sequence[CheckText]
) -> Iterator[NBestList]:
    """Yield the n-best list of each text."""
    run = model_dir.run
    reader = SourceReader(run, model_dir.source_vocab, model_dir.vocab)
    detokenizer = Detokenizer(model_dir.vocab)
    # No reranking, since MBR utilities are often equal: tiny rounding errors change their order.
    decode = replace(run.decode, consensus=0.0, word_reward=0.0)
    n_best = min(N_BEST, decode.beam_size)

    def words_of(hypothesis: Hypothesis, source: SourceText) -> str:
        return " ".join(token.norm for token in detokenizer.tokens(hypothesis, source))

    def summarize_batch(sources: list[SourceText]) -> list[NBestList]:
        nonempty = [source for source in sources if not source.is_empty]
        batch = reader.batch(nonempty, style=decode.style)
        decoded = iter(decode_sources(model, batch, decode, n_best=n_best) if nonempty else ())
        return [
            [] if source.is_empty else [(words_of(h, source), h.score) for h in next(decoded)]
            for source in sources
        ]

    return bucketed_batches(
        (reader.read(text.text, tokenized=True) for text in texts),
        summarize_batch,
        length=lambda source: source.max_length,
        max_words=MAX_BATCH_SIZE * run.data.max_source_words,
        max_items=MAX_BATCH_SIZE,
        window=64 * MAX_BATCH_SIZE,
    )


def _best_words(n_best: NBestList) -> str:
    return n_best[0][0] if n_best else ""


def _n_best_agreement(
    summaries: dict[str, list[NBestList]],
) -> tuple[float | None, float | None]:
    """Return `same_n_best` and `largest_score_difference` of a check."""
    if "float32" not in summaries:
        return None, None
    num_same, largest_difference = 0, 0.0
    for graph_list, network_list in zip(summaries["float32"], summaries[NETWORK], strict=True):
        if len(graph_list) != len(network_list):
            continue
        differences = [
            abs(graph_score - network_score)
            for (_, graph_score), (_, network_score) in zip(graph_list, network_list, strict=True)
        ]
        difference = max(differences, default=0.0)
        largest_difference = max(largest_difference, difference)
        num_same += (
            difference <= SCORE_TOLERANCE
            and _contains_all(network_list, graph_list)
            and _contains_all(graph_list, network_list)
        )
    return num_same / len(summaries[NETWORK]), largest_difference


def _contains_all(n_best: NBestList, summaries: NBestList) -> bool:
    """Return whether an n-best list contains all of `summaries`, another n-best list.

    A summary other than the best may be missing if its score is at most `SCORE_TOLERANCE` above the
    lowest score of `n_best`: such a summary may just have failed to enter the list.
    """
    contained_words = {words for words, _ in n_best}
    max_missing_score = min((score for _, score in n_best), default=0.0) + SCORE_TOLERANCE
    return all(
        words in contained_words or (rank > 0 and score <= max_missing_score)
        for rank, (words, score) in enumerate(summaries)
    )


def _same_best(summaries: dict[str, list[NBestList]], name: str, reference_name: str) -> float:
    """Return the fraction of texts for which two models have the same best summary."""
    pairs = zip(summaries[name], summaries[reference_name], strict=True)
    is_same = [_best_words(n_best) == _best_words(reference) for n_best, reference in pairs]
    return float(np.mean(is_same))


def _rouge(
    summaries: dict[str, list[NBestList]], texts: Sequence[CheckText]
) -> dict[str, dict[str, float]]:
    """Return the ROUGE scores of each model by measure; empty if a text has no reference."""
    references = [[text.reference] for text in texts if text.reference is not None]
    if len(references) < len(texts):
        return {}
    scores = {}
    for name, n_best_lists in summaries.items():
        report = score_corpus([*map(_best_words, n_best_lists)], references, UNICODE_PROTOCOL)
        scores[name] = {measure: round(100 * report[measure].f1.value, 3) for measure in MEASURES}
    return scores


def _is_accepted(same_n_best: float, num_texts: int) -> bool:
    """Return whether the n-best lists of enough texts are the same."""
    num_different = round((1 - same_n_best) * num_texts)
    is_one_tie = num_different == 1 and num_texts >= MIN_TEXTS_FOR_ONE_TIE
    return same_n_best >= MIN_SAME or is_one_tie


def _raise_if_rejected(check: Check, *, where: str) -> None:
    """Raise an ArtifactError if float32 differs too much, or int8 or a shortlist loses ROUGE."""
    if check.same_n_best is not None and not _is_accepted(check.same_n_best, check.texts):
        raise ArtifactError(
            f"{where}: the float32 graphs agree with the network on only "
            f"{check.same_n_best:.1%} of {pluralize(check.texts, 'text')}; "
            f"expected {MIN_SAME:.1%}; nothing was written; an undertrained network has many "
            "near ties; train longer or check on more texts; otherwise report this as a bug"
        )
    if (drop := _describe_drop(check, "int8", reference=NETWORK)) is not None:
        raise ArtifactError(
            f"{where}: int8 lowers ROUGE by {drop}; nothing was written; use the precision float32"
        )
    for precision in check.same_as_whole:
        if (drop := _describe_drop(check, precision, reference=FULL_VOCAB)) is not None:
            raise ArtifactError(
                f"{where}: with the shortlist, {precision} lowers ROUGE by {drop}; nothing was "
                "written; use a larger shortlist or none"
            )


def _describe_drop(check: Check, name: str, *, reference: str) -> str | None:
    """Describe the largest drop of a ROUGE score from model `reference` to model `name`.

    Return None if no drop is larger than `MAX_ROUGE_DROP`, or there are no scores.
    """
    if name not in check.rouge:
        return None
    drops = {
        measure: score - check.rouge[name][measure]
        for measure, score in check.rouge[reference].items()
    }
    measure = max(drops, key=lambda measure: drops[measure])
    if drops[measure] <= MAX_ROUGE_DROP:
        return None
    return (
        f"{drops[measure]:.2f} points ({measure}) on {pluralize(check.texts, 'text')}; "
        f"expected at most {MAX_ROUGE_DROP}"
    )
