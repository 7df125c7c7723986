"""Are the graphs the network? The same texts are summarized by all of them, and compared."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
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
from readagain.search.batching import bucketed_batches
from readagain.search.decoding import decode_sources
from readagain.search.hypotheses import Hypothesis
from readagain.text.vocab import SPECIAL_TOKENS

N_BEST = 5
MAX_TEXTS = 16
SCORE_TOLERANCE = 1e-3
MIN_SAME = 0.995
"""Share of texts whose n-best must agree; sums in another order may swap a near tie."""
ENOUGH_TEXTS = 20
"""From so many texts on one near tie is allowed, even where it is a larger share of them."""
MAX_LOSS = 0.3
"""How much of any ROUGE, in points, int8 may lose, and a shortlist in either precision."""
WHOLE = "whole"
"""What the network is called in which all words compete, where graphs have a shortlist."""


@dataclass(frozen=True)
class CheckText:
    """A text in the words of a corpus, one sentence a line, and what a person wrote over it."""

    text: str
    reference: str | None = None


@dataclass(frozen=True)
class Check:
    """What comparing found; goes into `export.json`.

    Args:
        texts: how many were summarized.
        origin: where they come from.
        same_n_best: share of texts whose n-best from the float32 graphs is the network's, in words
            and scores within `SCORE_TOLERANCE`; None where float32 was not exported.
        largest_score_difference: between any two hypotheses of the same rank there.
        int8_same_best: share of texts whose best summary from the int8 graphs is the network's.
        rouge: ROUGE F1 in points by back end, against the references where there are any; of
            `WHOLE`, too, for graphs with a shortlist.
        same_as_whole: share of texts whose best summary from the graphs with a shortlist is that
            of the network without, by precision; empty for other graphs.
    """

    texts: int
    origin: str
    same_n_best: float | None
    largest_score_difference: float | None
    int8_same_best: float | None
    rouge: dict[str, dict[str, float]]
    same_as_whole: dict[str, float]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return asdict(self)


def corpus_texts(prepared: Path, most: int) -> list[CheckText]:
    """Take dev pairs of a prepared corpus, in the very words that training sees.

    Raises:
        DataError: when its dev split is empty.
    """
    corpus = PreparedCorpus.open(prepared)
    split = corpus.split("dev")
    if not len(split):
        raise DataError(f"{prepared}: no dev pairs to check on; prepare it with --dev-pairs")
    found = []
    for index in range(min(most, len(split))):
        sentences, summary = split[index]
        text = "\n".join(map(corpus.lexicon.spell, sentences))
        found.append(CheckText(text, corpus.lexicon.spell(summary)))
    return found


def random_texts(folder: ModelDir, count: int) -> list[CheckText]:
    """Make texts of random words, some of them known to nobody, always the same."""
    random = np.random.default_rng(0)
    data = folder.run.data
    words = folder.source_vocab.words[len(SPECIAL_TOKENS) :]
    found = []
    for _ in range(count):
        sentences = []
        for _ in range(data.num_sentences):
            length = int(random.integers(3, data.max_source_words + 1))
            chosen = [words[place] for place in random.integers(0, len(words), length)]
            for place in random.integers(0, length, 1 + length // 8):
                chosen[place] = f"unheard-of-{place % 3}"
            sentences.append(" ".join(chosen))
        found.append(CheckText("\n".join(sentences)))
    return found


def check_graphs(
    folder: ModelDir,
    graphs: Graphs,
    texts: Sequence[CheckText],
    *,
    origin: str,
    threads: int,
    whole: ModelDir | None = None,
) -> Check:
    """Summarize texts with the network and with its graphs, and compare.

    Args:
        folder: the model.
        graphs: its graphs.
        texts: what is summarized.
        origin: where they come from.
        threads: how many threads each back end may use.
        whole: the model before it was given a shortlist (`shorten.with_shortlist`); what the list
            costs is then measured in ROUGE, so the texts need references.

    Raises:
        ArtifactError: when float32 finds other summaries, or int8 or a shortlist loses too much.
        DataError: when there are no references to measure a shortlist by.
    """
    if whole is not None and any(text.reference is None for text in texts):
        raise DataError(
            f"{folder.path}: what a shortlist costs is measured in ROUGE, and {origin} have no "
            "headlines to measure it by; check it on pairs"
        )
    torch.set_num_threads(threads)
    models: dict[str, Any] = {
        "torch": TorchStepModel(load_network(folder, purpose="checking the graphs"))
    }
    if whole is not None:
        models[WHOLE] = TorchStepModel(load_network(whole, purpose="checking the graphs"))
    for precision, contents in graphs.items():
        models[precision] = OnnxStepModel.open(*contents, threads=threads)
    found = {name: list(_summaries(folder, model, texts)) for name, model in models.items()}

    check = Check(
        texts=len(texts),
        origin=origin,
        rouge=_rouge(found, texts),
        int8_same_best=_share_of_same_best(found, "int8", "torch") if "int8" in found else None,
        same_as_whole={each: _share_of_same_best(found, each, WHOLE) for each in graphs}
        if whole is not None
        else {},
        **_n_best_agreement(found),
    )
    _refuse(check, where=str(folder.path))
    return check


@dataclass(frozen=True)
class _NBestSummary:
    """The n-best of one text, words and score of each; none for a text without a word."""

    n_best: list[tuple[str, float]]

    @property
    def words(self) -> str:
        """The words of the best."""
        return self.n_best[0][0] if self.n_best else ""


def _summaries(folder: ModelDir, model: Any, texts: Sequence[CheckText]) -> Iterator[_NBestSummary]:
    reader = SourceReader(folder.run, folder.source_vocab, folder.vocab)
    printer = Detokenizer(folder.vocab)
    n_best = min(N_BEST, folder.run.decode.beam_size)

    def summarize(sources: list[SourceText]) -> list[_NBestSummary]:
        readable = [source for source in sources if not source.is_empty]
        found = iter(
            decode_sources(
                model, reader.batch(readable), folder.run.decode, n_best=n_best, keep_attention=True
            )
            if readable
            else ()
        )
        return [write(source, [] if source.is_empty else next(found)) for source in sources]

    def write(source: SourceText, hypotheses: list[Hypothesis]) -> _NBestSummary:
        return _NBestSummary(
            [
                (" ".join(token.norm for token in printer.tokens(each, source)), each.score)
                for each in hypotheses
            ]
        )

    return bucketed_batches(
        (reader.read(text.text, tokenized=True) for text in texts),
        summarize,
        length=lambda source: source.max_length,
        max_words=MAX_TEXTS * folder.run.data.max_source_words,
        max_items=MAX_TEXTS,
        window=64 * MAX_TEXTS,
    )


def _n_best_agreement(found: dict[str, list[_NBestSummary]]) -> dict[str, float | None]:
    if "float32" not in found:
        return {"same_n_best": None, "largest_score_difference": None}
    same, largest = 0, 0.0
    for ours, theirs in zip(found["float32"], found["torch"], strict=True):
        if len(ours.n_best) != len(theirs.n_best):
            continue
        differences = [
            abs(one - other)
            for (_, one), (_, other) in zip(ours.n_best, theirs.n_best, strict=True)
        ]
        difference = max(differences, default=0.0)
        largest = max(largest, difference)
        are_found = _are_found(ours, theirs) and _are_found(theirs, ours)
        same += difference <= SCORE_TOLERANCE and are_found
    return {
        "same_n_best": same / len(found["torch"]),
        "largest_score_difference": largest,
    }


def _are_found(some: _NBestSummary, others: _NBestSummary) -> bool:
    """Tell whether summaries stand in another list, too, in whatever order equals have there.

    All but the best may be missing if they equal the last there, to which they lost a tie.
    """
    known = {words for words, _ in others.n_best}
    lowest = min((score for _, score in others.n_best), default=0.0) + SCORE_TOLERANCE
    return all(
        words in known or (place > 0 and score <= lowest)
        for place, (words, score) in enumerate(some.n_best)
    )


def _share_of_same_best(found: dict[str, list[_NBestSummary]], one: str, other: str) -> float:
    pairs = zip(found[one], found[other], strict=True)
    return float(np.mean([ours.words == theirs.words for ours, theirs in pairs]))


def _rouge(
    found: dict[str, list[_NBestSummary]], texts: Sequence[CheckText]
) -> dict[str, dict[str, float]]:
    """Score every back end against the references; nothing where there are none."""
    references = [[text.reference] for text in texts if text.reference is not None]
    if len(references) < len(texts):
        return {}
    scores = {}
    for name, written in found.items():
        report = score_corpus([each.words for each in written], references, "gigaword")
        scores[name] = {
            measure: round(100 * report[measure].f1.value, 3)
            for measure in ("rouge-1", "rouge-2", "rouge-l")
        }
    return scores


def _is_same(share: float, texts: int) -> bool:
    differing = round((1 - share) * texts)
    return share >= MIN_SAME or (differing == 1 and texts >= ENOUGH_TEXTS)


def _refuse(check: Check, *, where: str) -> None:
    if check.same_n_best is not None and not _is_same(check.same_n_best, check.texts):
        raise ArtifactError(
            f"{where}: the float32 graphs agree with the network on only "
            f"{check.same_n_best:.1%} of {pluralize(check.texts, 'text')}; "
            f"expected {MIN_SAME:.1%}; "
            "nothing was written; a network that was hardly trained has near ties, so train on, or "
            "name more texts with --check-on; else please report this"
        )
    if (lost := _largest_loss(check, "int8", than="torch")) is not None:
        raise ArtifactError(
            f"{where}: int8 loses {lost}; nothing was written; export float32 alone with "
            "--precision float32"
        )
    for precision in check.same_as_whole:
        if (lost := _largest_loss(check, precision, than=WHOLE)) is not None:
            raise ArtifactError(
                f"{where}: with the shortlist {precision} loses {lost}; nothing was written; let "
                "more words compete, or export without --shortlist"
            )


def _largest_loss(check: Check, one: str, *, than: str) -> str | None:
    """Tell how much ROUGE a back end loses against another; None where that is little."""
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
