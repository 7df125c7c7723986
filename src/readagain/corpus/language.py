"""Language of a corpus, detected in its first texts."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from readagain.corpus.inputs import CorpusInput
from readagain.corpus.readers.formats import FORMATS
from readagain.errors import ReadAgainError
from readagain.formats.records import InvalidRecord
from readagain.text.language import UNDETERMINED, detect_language

NUM_TEXTS = 200
"""Maximum number of texts of each input in which the language is detected."""
_MAX_INPUTS = 32
"""Maximum number of inputs that are read, evenly spaced."""
_MIN_SHARE = 0.6
"""Minimum share of the texts that must be in the language."""


def detect_corpus_language(
    sources: Sequence[CorpusInput],
) -> tuple[str, ReadAgainError | None]:
    """Return the code of the language of the first texts of all inputs; of many inputs, some.

    The second value is the first error that ended the reading of an input, if any; the language may
    then depend on it.
    """
    chosen = sources[:: -(-len(sources) // _MAX_INPUTS)] if sources else []
    errors: list[ReadAgainError] = []
    code = language_of_texts(
        text for source in chosen for text in islice(_texts(source, errors), NUM_TEXTS)
    )
    return code, next(iter(errors), None)


def language_of_texts(texts: Iterable[str]) -> str:
    """Return the code of the language of most texts, or `UNDETERMINED` without a clear majority.

    Texts whose language is unclear are ignored.
    """
    detected = map(detect_language, texts)
    counts = Counter(language.code for language in detected if language is not None)
    if not counts:
        return UNDETERMINED
    code, count = counts.most_common(1)[0]
    return code if count >= _MIN_SHARE * counts.total() else UNDETERMINED


def _texts(source: CorpusInput, errors: list[ReadAgainError]) -> Iterator[str]:
    """Yield the texts of an input up to the first error, which is added to `errors`."""
    format = FORMATS[source.format]
    try:
        for block in format.read_blocks(source):
            for record in format.parse_block(source, block):
                if not isinstance(record, InvalidRecord):
                    yield record.text
    except ReadAgainError as error:
        errors.append(error)
