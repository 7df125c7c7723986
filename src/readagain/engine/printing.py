"""From what a beam found to what a person reads."""

from collections.abc import Sequence

import numpy as np

from readagain.config.options import Case
from readagain.engine.beginning import FREE, TargetPrefix
from readagain.engine.source import SourceText
from readagain.engine.summary import Origin, PrintedWord, SummaryPart
from readagain.search.constraints import PrintedBytes, truncate_to_bytes
from readagain.search.hypotheses import Hypothesis
from readagain.search.model import Ints
from readagain.text.surface import SummaryToken, WrittenWord, write_words
from readagain.text.truecasing import Truecaser, default_truecaser
from readagain.text.vocab import Vocab

_MOST_ATTENDED = 8  # places that a generated ## looks through for its digits, by attention


class Detokenizer:
    """Prints summaries of one model.

    Args:
        vocab: the decoder's words.
        cases: how they are written where a text does not show it, as far as the model knows.
    """

    def __init__(self, vocab: Vocab, cases: Truecaser | None = None) -> None:
        self._vocab = vocab
        self.cases = (
            default_truecaser() if cases is None else cases.with_fallback(default_truecaser())
        )
        self._bytes: Ints = np.array([len(_as_bytes(word)) for word in vocab.words])

    def printed_bytes(self, sources: Sequence[SourceText], num_sequences: int) -> PrintedBytes:
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

    def words(
        self, hypothesis: Hypothesis, source: SourceText, beginning: TargetPrefix = FREE
    ) -> list[SummaryToken]:
        """Find the form of each word, where it was copied from, and what it looked at."""
        found = [SummaryToken(word.norm) for word in beginning.words]
        for t, (id, (sentence, word)) in enumerate(
            zip(hypothesis.ids.tolist(), hypothesis.copied_from.tolist(), strict=True)
        ):
            if t < len(beginning):
                continue
            if sentence >= 0:
                place = source.sequences[sentence][word]
                found.append(SummaryToken(source.document.words[place].norm, place))
                continue
            form = self._vocab.word(id)
            attended = _attended(hypothesis, t, source) if "#" in form else ()
            found.append(SummaryToken(form, None, attended))
        return found

    def text(
        self,
        words: Sequence[SummaryToken],
        source: SourceText,
        beginning: TargetPrefix = FREE,
        *,
        case: Case,
        max_bytes: int,
    ) -> tuple[str, int]:
        """Print words; return the text, and how many of the words fit into `max_bytes`.

        The search has kept to the limit as well as a table of words can; the printed text decides.
        """

        def print_words(words: Sequence[SummaryToken]) -> str:
            written = self._written_behind(beginning, words, source, case)
            return beginning.text + "".join(" " * each.has_space + each.surface for each in written)

        if max_bytes:
            words = truncate_to_bytes(words, print_words, max_bytes)
        return print_words(words), len(words)

    def printed_words(
        self,
        words: Sequence[SummaryToken],
        source: SourceText,
        beginning: TargetPrefix = FREE,
        *,
        case: Case,
    ) -> tuple[PrintedWord, ...]:
        """Find where each word stands in the printed text."""
        written = self._written_behind(beginning, words, source, case)
        by_place = {word.place: word for word in written}
        printed = [
            PrintedWord(
                surface=beginning.surface(word), start=word.start, end=word.end, digits_from=None
            )
            for word in beginning.words
        ]
        end = len(beginning.text)
        for place in range(len(beginning), len(words)):
            word = by_place.get(place)
            if word is None:
                printed.append(PrintedWord(surface="", start=end, end=end, digits_from=None))
                continue
            start = end + word.has_space
            end = start + len(word.surface)
            origin = None if word.digits_from is None else source.document.words[word.digits_from]
            printed.append(
                PrintedWord(surface=word.surface, start=start, end=end, digits_from=origin)
            )
        return tuple(printed)

    def _written_behind(
        self, beginning: TargetPrefix, words: Sequence[SummaryToken], source: SourceText, case: Case
    ) -> list[WrittenWord]:
        """Write the words behind a beginning, which is printed as it was given."""
        P = len(beginning)
        if source.document.is_tokenized:
            written = [WrittenWord(t, word.form, t > 0, None) for t, word in enumerate(words)]
        else:
            # The digits of a beginning are there already; it uses up none of the source's.
            given = [SummaryToken(word.form.replace("#", "0")) for word in words[:P]]
            written = write_words(
                [*given, *words[P:]], source.document, case=case, cases=self.cases
            )
        return [word for word in written if word.place >= P]


def parts(
    words: Sequence[SummaryToken],
    hypothesis: Hypothesis,
    source: SourceText,
    beginning: TargetPrefix = FREE,
) -> tuple[SummaryPart, ...]:
    """Describe words with their origin."""
    described = []
    for t, (word, log_prob) in enumerate(zip(words, hypothesis.log_probs.tolist(), strict=False)):
        place = word.copied_from
        origin = None if place is None else source.document.words[place]
        described.append(
            SummaryPart(
                form=word.form,
                origin=_origin(word, is_given=t < len(beginning)),
                start=None if origin is None else origin.start,
                end=None if origin is None else origin.end,
                log_prob=log_prob,
            )
        )
    return tuple(described)


def _origin(word: SummaryToken, *, is_given: bool) -> Origin:
    if is_given:
        return "given"
    return "generated" if word.copied_from is None else "copied"


def _attended(hypothesis: Hypothesis, t: int, source: SourceText) -> tuple[int, ...]:
    """List the places that word t looked at, the most attended first."""
    assert hypothesis.attention is not None
    weights = hypothesis.attention[t]  # (N, L)
    order = np.argsort(-weights, axis=None, kind="stable")[:_MOST_ATTENDED]
    looked_at = [divmod(int(flat), weights.shape[1]) for flat in order if weights.flat[flat] > 0]
    return tuple(source.sequences[n][place] for n, place in looked_at)


def _as_bytes(word: str) -> bytes:
    return word.encode("utf-8", "surrogatepass")
