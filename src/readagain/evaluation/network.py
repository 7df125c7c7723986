"""Trained model as a system that can be evaluated."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from difflib import SequenceMatcher
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from readagain.engine.summary import Summary
from readagain.evaluation.summaries import SystemSummary, is_unk, on_one_line, summary_words
from readagain.model_dir import ModelDir
from readagain.rouge.options import UNICODE_PROTOCOL
from readagain.storage.model_manifest import MANIFEST_FILE
from readagain.text.detokenization import SummaryToken
from readagain.text.document import Token, read_tokenized
from readagain.text.language import Language
from readagain.text.vocab import SPECIAL_TOKENS, UNK

if TYPE_CHECKING:
    from readagain.config.options import SummarizeOptions
    from readagain.engine.summarizer import Summarizer

_DIGIT = re.compile(r"\d")
# The DUC protocols score the first 75 bytes of a summary. A search for summaries of at most 75
# bytes gives better ones than truncation. `max_bytes` counts spaces and `min_bytes` does not: 61
# bytes are about 72 with the spaces between a dozen words. MBR reranking by recall, which is the
# score of the protocol, needs a large beam.
_DUC = {
    "beam_size": 32,
    "min_words": 1,
    "max_words": 20,
    "min_bytes": 61,
    "max_bytes": 75,
    "consensus_by": "recall",
}
PROTOCOL_SETTINGS: dict[str, dict[str, Any]] = {
    "gigaword": {},
    "duc2003": _DUC,
    "duc2004": _DUC,
    UNICODE_PROTOCOL: {},
}
"""Decoding settings that a protocol changes, by protocol."""
# ROUGE counts words that a summary shares with the reference. So a model with the styles below is
# scored in the style that is most similar to the references, and with MBR reranking (`consensus`).
# Both increase ROUGE, but not the quality that raters see (docs/quality.md).
BENCHMARK_STYLES = {"tokenized": "newswire", "raw": "close"}
"""Style token for texts that are tokenized as in Gigaword, and for raw texts."""
BENCHMARK_SETTINGS = {
    "beam_size": 10,
    "length_penalty": 0.6,
    "min_words": 1,
    "word_reward": 0.0,
    "check_penalty": 0.0,
    "consensus": 0.4,
}
"""Decoding settings of a model with `BENCHMARK_STYLES`."""


@dataclass(frozen=True)
class NetworkSystem:
    """A trained model, to be evaluated.

    Args:
        summarizer: the loaded model, with the decoding settings to use.
        precision: precision of the ONNX graphs; None for the first precision of the model.
        threads: number of threads, for the report.
        styles: styles by form of the text, as in `BENCHMARK_STYLES`; None for the default style of
            the model.
    """

    name: str
    model_dir: ModelDir
    summarizer: "Summarizer"
    precision: str | None
    threads: int
    styles: Mapping[str, str] | None = None

    def describe(self) -> dict[str, Any]:
        """Return the title, checksum, precision and decoding settings of the model.

        `changed_settings` are the decoding settings that differ from those of the model folder.
        """
        manifest = self.model_dir.path / MANIFEST_FILE
        decode = asdict(self.summarizer.run.decode)
        if self.styles is not None:
            decode["style"] = " or ".join(
                f"{style} ({form} text)" for form, style in self.styles.items()
            )
        own_decode = asdict(self.model_dir.run.decode)
        return {
            "title": self.model_dir.run.title,
            "sha256": sha256(manifest.read_bytes()).hexdigest(),
            "precision": self.precision or self.model_dir.precisions[0],
            "threads": self.threads,
            "decode": decode,
            "changed_settings": {
                name: value for name, value in decode.items() if value != own_decode[name]
            },
        }

    def summarize(self, texts: Sequence[str], *, is_tokenized: bool) -> Iterator[SystemSummary]:
        """Yield the summary of each text, in order; summaries of tokenized texts are tokenized."""
        for [(text, summary)] in self.summarize_n_best(texts, is_tokenized=is_tokenized):
            yield _find_copied(
                text,
                summary.words,
                is_tokenized=is_tokenized,
                language=self.summarizer.language,
            )

    def summarize_n_best(
        self, texts: Sequence[str], *, is_tokenized: bool, n_best: int = 1
    ) -> Iterator[list[tuple[str, Summary]]]:
        """Yield the n-best summaries of each text as pairs: the string to score, the summary."""
        options: SummarizeOptions = {"n_best": n_best, "tokenized": is_tokenized}
        if self.styles is not None:
            options["style"] = self.styles["tokenized" if is_tokenized else "raw"]
        if not is_tokenized:
            for best in self.summarizer.summarize(iter(texts), **options):
                yield [
                    (on_one_line(summary.text), summary) for summary in (best, *best.alternatives)
                ]
            return
        tokenized = [TokenizedText(text) for text in texts]
        best_summaries = self.summarizer.summarize((text.masked for text in tokenized), **options)
        for text, best in zip(tokenized, best_summaries, strict=True):
            yield [
                (" ".join(text.surfaces(summary.words)), summary)
                for summary in (best, *best.alternatives)
            ]


def _find_copied(
    text: str, tokens: Sequence[SummaryToken], *, is_tokenized: bool, language: Language
) -> SystemSummary:
    """Find the words of a summary that the model copied.

    Detokenization may join tokens, omit numbers or fill in their digits. So the words of `text` may
    differ from the `tokens` of the model, and the two are aligned.
    """
    words = summary_words(text, is_tokenized=is_tokenized, language=language)
    is_copied = [False] * len(words)
    matcher = SequenceMatcher(
        None, [word.norm for word in words], [token.norm for token in tokens], autojunk=False
    )
    for block in matcher.get_matching_blocks():
        for offset in range(block.size):
            is_copied[block.a + offset] = tokens[block.b + offset].origin == "copied"
    return SystemSummary(text, words, tuple(is_copied))


class TokenizedText:
    """A text tokenized as in Gigaword: lower-case words separated by spaces, one sentence per line.

    Models are trained with # for every digit and with one UNK token. But DUC has real digits, and
    copies of Gigaword have several spellings of UNK. So digits are masked for the model and
    restored in its summary, and every spelling of UNK is replaced by the UNK token of the model.
    """

    def __init__(self, text: str) -> None:
        sentences = read_tokenized(text).sentences
        self._words: list[str] = [word.norm for sentence in sentences for word in sentence]
        lines = [" ".join(map(_mask, sentence)) for sentence in sentences]
        self.masked = "\n".join(lines)
        """Input of the model: the text with # for digits and the UNK token of the model."""

    def surfaces(self, tokens: Sequence[SummaryToken]) -> list[str]:
        """Return the words of a summary with the digits of this text.

        A copied number gets the digits of the word that was copied. A generated number, such as
        ##.#, gets those of the first number of the text with the same norm.
        """
        masked_words = read_tokenized(self.masked).words
        position_by_start = {word.start: position for position, word in enumerate(masked_words)}
        first_surface: dict[str, str] = {}
        for word, surface in zip(masked_words, self._words, strict=True):
            first_surface.setdefault(word.norm, surface)
        surfaces = []
        for token in tokens:
            if token.source is not None:
                surfaces.append(self._words[position_by_start[token.source.start]])
            elif "#" in token.norm:
                # A number that matches none keeps its #, which ROUGE ignores.
                surfaces.append(first_surface.get(token.norm, token.norm))
            else:
                surfaces.append(token.norm)
        return surfaces


def _mask(word: Token) -> str:
    return SPECIAL_TOKENS[UNK] if is_unk(word.norm) else _DIGIT.sub("#", word.norm)
