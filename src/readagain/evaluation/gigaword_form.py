"""Texts that came in Gigaword form: what a model is given of them, and what it wrote, put back.

A model was trained on # for every digit and on one unknown word. Public sets keep to that in part:
those of DUC have lower case and separate words, but real digits in texts and references; Gigaword
spells the unknown word UNK or <unk>. So digits are masked on the way in and found again on the way
out, and unknown words are given in the model's own spelling, which it never writes.
"""

import re
from collections.abc import Sequence

from readagain.engine.summary import SummaryPart
from readagain.evaluation.unknown import is_unknown
from readagain.text.document import Token, read_tokenized
from readagain.text.vocab import SPECIAL_TOKENS, UNK

_DIGIT = re.compile(r"\d")


class TokenizedText:
    """A text in Gigaword form.

    Args:
        text: words between spaces, one sentence a line.
    """

    def __init__(self, text: str) -> None:
        sentences = read_tokenized(text).sentences
        self._words: list[str] = [word.form for sentence in sentences for word in sentence]
        lines = [" ".join(map(_as_trained, sentence)) for sentence in sentences]
        self.for_model = "\n".join(lines)
        """The text with # for digits and the model's own unknown word."""

    def spell(self, parts: Sequence[SummaryPart]) -> list[str]:
        """Spell the words of a summary as this text does, real digits included."""
        given = [word for sentence in read_tokenized(self.for_model).sentences for word in sentence]
        place_of = {word.start: place for place, word in enumerate(given)}
        spelling: dict[str, str] = {}
        for word, spelled in zip(given, self._words, strict=True):
            spelling.setdefault(word.form, spelled)
        words = []
        for part in parts:
            if part.start is not None:
                words.append(self._words[place_of[part.start]])
            elif "#" in part.form:
                # A number the model made up keeps its signs, which ROUGE passes over.
                words.append(spelling.get(part.form, part.form))
            else:
                words.append(part.form)
        return words


def _as_trained(word: Token) -> str:
    return SPECIAL_TOKENS[UNK] if is_unknown(word.form) else _DIGIT.sub("#", word.form)
