"""From what a beam found to what a person reads."""

from collections.abc import Sequence
from functools import partial

import numpy as np

from readagain.engine.source import Source
from readagain.engine.summary import PrintedWord, SummaryPart
from readagain.search.limits import PrintedBytes, cut_to_bytes
from readagain.search.model import Ints
from readagain.search.trace import Hypothesis
from readagain.text.casing import Case
from readagain.text.surface import SummaryWord, WrittenWord, write_summary, write_words
from readagain.text.vocab import Vocab

_MOST_ATTENDED = 8  # places that a generated ## looks through for its digits, by attention


class Printer:
    """Prints summaries of one model.

    Args:
        vocab: the decoder's words.
    """

    def __init__(self, vocab: Vocab) -> None:
        self._vocab = vocab
        self._bytes: Ints = np.array([len(_as_bytes(word)) for word in vocab.words])

    def printed_bytes(self, sources: Sequence[Source], num_sequences: int) -> PrintedBytes:
        """Measure the words that summaries of these sources may hold."""
        L = max(source.longest for source in sources)
        copied = np.zeros((len(sources), num_sequences * L), dtype=np.int64)
        for b, source in enumerate(sources):
            words = source.document.words
            for n, sequence in enumerate(source.sequences):
                copied[b, n * L : n * L + len(sequence)] = [
                    len(_as_bytes(source.document.surface(words[place]))) for place in sequence
                ]
        return PrintedBytes(generated=self._bytes, copied=copied)

    def words(self, hypothesis: Hypothesis, source: Source) -> list[SummaryWord]:
        """Find the form of each word, where it was copied from, and what it looked at."""
        found = []
        for t, (id, (sentence, word)) in enumerate(
            zip(hypothesis.ids.tolist(), hypothesis.copied_from.tolist(), strict=True)
        ):
            if sentence >= 0:
                place = source.sequences[sentence][word]
                found.append(SummaryWord(source.document.words[place].form, place))
                continue
            form = self._vocab.word(id)
            attended = _attended(hypothesis, t, source) if "#" in form else ()
            found.append(SummaryWord(form, None, attended))
        return found

    def text(
        self, words: Sequence[SummaryWord], source: Source, *, case: Case, max_bytes: int
    ) -> tuple[str, int]:
        """Print words; return the text, and how many of the words fit into `max_bytes`.

        The search has kept to the limit as well as a table of words can; the printed text decides.
        """
        if source.document.is_tokenized:
            print_words = _in_gigaword_form
        else:
            print_words = partial(write_summary, document=source.document, case=case)
        if max_bytes:
            words = cut_to_bytes(words, print_words, max_bytes)
        return print_words(words), len(words)


def printed_words(
    words: Sequence[SummaryWord], source: Source, *, case: Case
) -> tuple[PrintedWord, ...]:
    """Find where each word stands in the printed text."""
    if source.document.is_tokenized:
        written = [WrittenWord(t, word.form, t > 0, None) for t, word in enumerate(words)]
    else:
        written = write_words(words, source.document, case=case)
    by_place = {word.place: word for word in written}
    printed = []
    end = 0
    for place in range(len(words)):
        word = by_place.get(place)
        if word is None:
            printed.append(PrintedWord(surface="", start=end, end=end, digits_from=None))
            continue
        start = end + word.has_space
        end = start + len(word.surface)
        origin = None if word.digits_from is None else source.document.words[word.digits_from]
        printed.append(PrintedWord(surface=word.surface, start=start, end=end, digits_from=origin))
    return tuple(printed)


def parts(
    words: Sequence[SummaryWord], hypothesis: Hypothesis, source: Source
) -> tuple[SummaryPart, ...]:
    """Describe words with their origin."""
    described = []
    for word, log_prob in zip(words, hypothesis.log_probs.tolist(), strict=False):
        place = word.copied_from
        origin = None if place is None else source.document.words[place]
        described.append(
            SummaryPart(
                form=word.form,
                origin="generated" if origin is None else "copied",
                start=None if origin is None else origin.start,
                end=None if origin is None else origin.end,
                log_prob=log_prob,
            )
        )
    return tuple(described)


def _attended(hypothesis: Hypothesis, t: int, source: Source) -> tuple[int, ...]:
    """List the places that word t looked at, the most attended first."""
    assert hypothesis.attention is not None
    weights = hypothesis.attention[t]  # (N, L)
    order = np.argsort(-weights, axis=None, kind="stable")[:_MOST_ATTENDED]
    looked_at = [divmod(int(flat), weights.shape[1]) for flat in order if weights.flat[flat] > 0]
    return tuple(source.sequences[n][place] for n, place in looked_at)


def _in_gigaword_form(words: Sequence[SummaryWord]) -> str:
    return " ".join(word.form for word in words)


def _as_bytes(word: str) -> bytes:
    return word.encode("utf-8", "surrogatepass")
