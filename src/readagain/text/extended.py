"""Ids of one example, the words that the vocabulary lacks included.

A model that copies must tell the unknown words of a source apart. Each gets the id V + its place,
where V is the size of the vocabulary and its place is where it first stands in the source. So an
id of V or more says by itself where its word is, and X = V + S ids cover every source of S words.
"""

from collections.abc import Sequence

from readagain.errors import ShapeError
from readagain.text.vocab import UNK, Vocab


def extended_source_ids(source: Sequence[str], vocab: Vocab) -> list[int]:
    """Return the id of each source word, unknown words by the place where they first stand.

    A source of several sentences is given flat, `<pad>` in the places that hold no word.

    >>> extended_source_ids(["a", "zyx", "zyx"], Vocab(["<pad>", "<unk>", "<s>", "</s>", "a"]))
    [4, 6, 6]
    """
    return _extended_ids(source, source, vocab)


def extended_summary_ids(summary: Sequence[str], source: Sequence[str], vocab: Vocab) -> list[int]:
    """Return the id of each summary word; UNK if neither vocabulary nor source has it."""
    return _extended_ids(summary, source, vocab)


def extended_word(id: int, source: Sequence[str], vocab: Vocab) -> str:
    """Return the word that an id stands for: of the vocabulary, or of this source."""
    if id < len(vocab):
        return vocab.word(id)
    place = id - len(vocab)
    if place >= len(source):
        raise ShapeError(
            f"word id {id} points at place {place} of a source of {len(source)} words; "
            f"expected an id below {len(vocab) + len(source)}"
        )
    return source[place]


def _extended_ids(words: Sequence[str], source: Sequence[str], vocab: Vocab) -> list[int]:
    ids = vocab.ids(words)
    if UNK not in ids:
        return ids
    first_place = {word: place for place, word in reversed(list(enumerate(source)))}
    V = len(vocab)
    return [
        V + first_place[word] if id == UNK and word not in vocab and word in first_place else id
        for id, word in zip(ids, words, strict=True)
    ]
