"""Detokenization of hypotheses: from ids and copy positions to printed summaries."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from readagain.config.options import Case
from readagain.engine.source import SourceText
from readagain.engine.target_prefix import NO_PREFIX, TargetPrefix, num_bytes
from readagain.search.hypotheses import Hypothesis
from readagain.search.model import Ints
from readagain.text.detokenization import SummaryToken, add_surfaces, printed_text
from readagain.text.language import ENGLISH, Language
from readagain.text.truecasing import Truecaser, default_truecaser
from readagain.text.vocab import Vocab

_MAX_ATTENDED = 8
"""Number of the most attended source positions, which are searched first for the digits of a
generated number such as ##."""


class Detokenizer:
    """Detokenizer of one model.

    Args:
        vocab: decoder vocabulary.
        truecaser: usual capitalization of words, from the model. For English, the default
            truecaser is used for words that it does not have.
        language: language of the model.
    """

    def __init__(
        self, vocab: Vocab, truecaser: Truecaser | None = None, language: Language = ENGLISH
    ) -> None:
        self._vocab = vocab
        self._language = language
        self.truecaser = Truecaser() if truecaser is None else truecaser
        if language.has_english_rules:
            self.truecaser = self.truecaser.with_fallback(default_truecaser())
        # (V,) size in bytes of each word of the vocabulary.
        self.vocab_bytes: Ints = np.array([num_bytes(word) for word in vocab.words], dtype=np.int32)

    def source_bytes(self, sources: Sequence[SourceText], num_sequences: int) -> Ints:
        """Return the (B, S) sizes in bytes of the words of the sources, 0 at padding."""
        L = max(source.max_length for source in sources)
        sizes = np.zeros((len(sources), num_sequences * L), dtype=np.int32)
        for b, source in enumerate(sources):
            words = source.document.words
            for n, sequence in enumerate(source.sequences):
                sizes[b, n * L : n * L + len(sequence)] = [
                    num_bytes(source.document.surface(words[position])) for position in sequence
                ]
        return sizes

    def tokens(
        self, hypothesis: Hypothesis, source: SourceText, prefix: TargetPrefix = NO_PREFIX
    ) -> list[SummaryToken]:
        """Return the tokens of a hypothesis, without surfaces."""
        words = source.document.words
        tokens = []
        for t, (id, (sequence, position), log_prob) in enumerate(
            zip(
                hypothesis.ids.tolist(),
                hypothesis.copied_from.tolist(),
                hypothesis.log_probs[: len(hypothesis.ids)].tolist(),
                strict=True,
            )
        ):
            if t < len(prefix):
                norm = prefix.words[t].norm
                tokens.append(SummaryToken(norm, is_given=True, log_prob=log_prob))
            elif sequence >= 0:  # copied
                source_position = source.sequences[sequence][position]
                word = words[source_position]
                tokens.append(
                    SummaryToken(word.norm, source_position, log_prob=log_prob, source=word)
                )
            else:
                norm = self._vocab.words[id]
                attended = _attended_positions(hypothesis, t, source) if "#" in norm else ()
                tokens.append(SummaryToken(norm, None, attended, log_prob=log_prob))
        return tokens

    def detokenize(
        self,
        tokens: Sequence[SummaryToken],
        source: SourceText,
        prefix: TargetPrefix = NO_PREFIX,
        *,
        case: Case,
        max_bytes: int = 0,
    ) -> tuple[str, list[SummaryToken]]:
        """Return the printed text and its tokens with surfaces.

        Words at the end are left out while the text has more than `max_bytes` bytes; 0 is no limit.
        The byte limit of the search does not ensure this, since it only adds up the sizes of words.
        """
        tokens = list(tokens)
        while True:
            printed = self._add_surfaces(tokens, source, prefix, case)
            text = prefix.text + printed_text(printed)[len(prefix.text) :]
            if not tokens or not max_bytes or num_bytes(text) <= max_bytes:
                return text, printed
            tokens.pop()

    def _add_surfaces(
        self, tokens: Sequence[SummaryToken], source: SourceText, prefix: TargetPrefix, case: Case
    ) -> list[SummaryToken]:
        """Return tokens with surfaces; the prefix is printed as the caller wrote it."""
        num_prefix = len(prefix)
        if source.document.is_tokenized:
            printed, end = [], -1
            for token in tokens:
                start = end + 1
                end = start + len(token.norm)
                printed.append(replace(token, surface=token.norm, start=start, end=end))
        else:
            # `add_surfaces` replaces # by digits of the source, but the prefix has its own digits.
            # So each # of the prefix is a 0 here, and the surfaces of the prefix are set below.
            prefix_tokens = [
                replace(token, norm=token.norm.replace("#", "0")) for token in tokens[:num_prefix]
            ]
            printed = add_surfaces(
                [*prefix_tokens, *tokens[num_prefix:]],
                source.document,
                case=case,
                truecaser=self.truecaser,
                language=self._language,
            )
        if num_prefix:
            # `add_surfaces` may print the prefix longer or shorter than the caller wrote it.
            shift = len(prefix.text) - printed[num_prefix - 1].end
            printed = [
                *(
                    replace(token, surface=prefix.surface(word), start=word.start, end=word.end)
                    for token, word in zip(tokens, prefix.words, strict=False)
                ),
                *(
                    replace(token, start=token.start + shift, end=token.end + shift)
                    for token in printed[num_prefix:]
                ),
            ]
        return printed


def _attended_positions(hypothesis: Hypothesis, t: int, source: SourceText) -> tuple[int, ...]:
    """Return the most attended source positions of step t, by decreasing attention."""
    weights = hypothesis.attention[t]  # (N, L)
    order = np.argsort(-weights, axis=None, kind="stable")[:_MAX_ATTENDED]
    attended = [divmod(int(flat), weights.shape[1]) for flat in order if weights.flat[flat] > 0]
    return tuple(
        source.sequences[n][position]
        for n, position in attended
        if position < len(source.sequences[n])  # without the style token, which follows the words
    )
