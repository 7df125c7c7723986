"""Detection of the language of a corpus from its first texts."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from readagain.corpus.inputs import CorpusInput
from readagain.corpus.readers.formats import FORMATS
from readagain.errors import ReadAgainError
from readagain.formats.records import InvalidRecord
from readagain.text.language import UNDETERMINED, detect_language

NUM_TEXTS = 200
"""Maximum number of texts of each input that are read to detect the language."""
_MAX_INPUTS = 32
"""Maximum number of inputs that are read."""
_MIN_SHARE = 0.6
"""Minimum share of the texts that must be in the detected language."""


def detect_corpus_language(sources: Sequence[CorpusInput]) -> tuple[str, ReadAgainError | None]:
    """Detect the language of a corpus from the first texts of its inputs.

    If there are more than `_MAX_INPUTS` inputs, only evenly spaced ones are read.

    Returns:
        The code of the language, and the first error of reading an input, or None. After an error,
        the detected language may be wrong.
    """
    step = max(math.ceil(len(sources) / _MAX_INPUTS), 1)
    errors: list[ReadAgainError] = []
    code = language_of_texts(
        text for source in sources[::step] for text in islice(_texts(source, errors), NUM_TEXTS)
    )
    return code, errors[0] if errors else None


def language_of_texts(texts: Iterable[str]) -> str:
    """Return the code of the language of most texts, or `UNDETERMINED` without a clear majority.

    Texts whose language cannot be detected are ignored.
    """
    languages = map(detect_language, texts)
    counts = Counter(language.code for language in languages if language is not None)
    if not counts:
        return UNDETERMINED
    code, count = counts.most_common(1)[0]
    return code if count >= _MIN_SHARE * counts.total() else UNDETERMINED


def _texts(source: CorpusInput, errors: list[ReadAgainError]) -> Iterator[str]:
    """Yield the texts of an input up to the first error; add this error to `errors`."""
    format = FORMATS[source.format]
    try:
        for block in format.read_blocks(source):
            for record in format.parse_block(source, block):
                if not isinstance(record, InvalidRecord):
                    yield record.text
    except ReadAgainError as error:
        errors.append(error)
