"""Language of a corpus, detected in its first texts."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice

from readagain.corpus.inputs import CorpusInput
from readagain.corpus.readers.formats import FORMATS
from readagain.errors import ReadAgainError
from readagain.formats.records import InvalidRecord
from readagain.text.language import UNDETERMINED, detect_language

NUM_TEXTS = 200
"""Maximum number of texts of each input in which the language is detected."""
_MIN_SHARE = 0.6


@dataclass(frozen=True, kw_only=True)
class CorpusLanguage:
    """Detected language of a corpus, and the share of texts in it.

    The code is `UNDETERMINED` if no language has a clear majority.
    """

    code: str
    share: float


def detect_corpus_language(sources: Sequence[CorpusInput]) -> CorpusLanguage:
    """Return the language of the first texts of all inputs."""
    return language_of_texts(
        text for source in sources for text in islice(_texts(source), NUM_TEXTS)
    )


def language_of_texts(texts: Iterable[str]) -> CorpusLanguage:
    """Return the language of most texts; texts whose language is unclear are ignored."""
    detected = map(detect_language, texts)
    found = Counter(language.code for language in detected if language is not None)
    if not found:
        return CorpusLanguage(code=UNDETERMINED, share=0.0)
    code, count = found.most_common(1)[0]
    share = count / found.total()
    return CorpusLanguage(code=code if share >= _MIN_SHARE else UNDETERMINED, share=share)


def _texts(source: CorpusInput) -> Iterator[str]:
    """Yield the texts of an input up to the first error, which `make_chunks` reports later."""
    format = FORMATS[source.format]
    with suppress(ReadAgainError):
        for block in format.read_blocks(source):
            for record in format.parse_block(source, block):
                if not isinstance(record, InvalidRecord):
                    yield record.text
