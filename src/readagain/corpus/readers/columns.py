"""Find the text and the headline among the columns of a record."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from readagain.corpus.pair import Example, InvalidRecord
from readagain.corpus.readers.source import Columns
from readagain.errors import DataError, quoted, type_in_words

# In order of preference: the first that a file has is taken. 'source' often names a publisher
# and 'summary' may be either side's word, so they come late.
TEXT_COLUMNS = (
    "text", "article", "document", "description", "abstract", "body", "content", "story",
    "passage", "source",
)  # fmt: skip
HEADLINE_COLUMNS = (
    "headline", "title", "heading", "summary", "highlights", "target", "label",
)  # fmt: skip


def guess_columns(
    names: Sequence[str], *, where: str, text: str | None = None, headline: str | None = None
) -> Columns:
    """Choose the two columns: those named, or the first common ones that `names` has.

    Raises:
        DataError: naming the columns there are, and how to choose among them.
    """
    return Columns(
        text=_choose(names, TEXT_COLUMNS, text, where=where, side="text"),
        headline=_choose(names, HEADLINE_COLUMNS, headline, where=where, side="headline"),
    )


def _choose(
    names: Sequence[str], common: Sequence[str], wanted: str | None, *, where: str, side: str
) -> str:
    by_lower = {name.strip().lower(): name for name in reversed(names)}
    if wanted is None:
        found = next((by_lower[name] for name in common if name in by_lower), None)
    else:
        found = wanted if wanted in names else None
    if found is not None:
        refuse_twins(found, names, where=where)
        return found
    if problem := _not_text("".join(names)):
        raise DataError(f"{where}: its header {problem}")
    listed = ", ".join(map(quoted, list(names)[:8])) or "none"
    if wanted is not None:
        raise DataError(
            f"{where}: no column '{wanted}' for the {side}; the columns are {listed}; "
            f"choose one of them with --{side}-column"
        )
    raise DataError(
        f"{where}: no column for the {side}; expected one of {', '.join(common)}, "
        f"found {listed}; name it with --{side}-column"
    )


def refuse_twins(name: str, names: Sequence[str], *, where: str) -> None:
    """Refuse a name that two columns have, of which only one would be read."""
    if list(names).count(name) > 1:
        raise DataError(f"{where}: two columns are called {quoted(name)}; name them apart")


def pick_pair(
    record: Mapping[str, object], columns: Columns, path: Path, number: int
) -> Example | InvalidRecord:
    """Take text and headline out of a record; an empty or null one is left to the filters."""
    values: list[str] = []
    for column in (columns.text, columns.headline):
        value = record.get(column, "" if column in record else record)
        if value is None:
            value = ""
        if not isinstance(value, str):
            found = "nothing" if value is record else type_in_words(value)
            return InvalidRecord(
                f"{path}:{number}", f"{found} under {quoted(column)}; expected a string"
            )
        if not value.isascii() and (problem := _not_text(value)):
            return InvalidRecord(f"{path}:{number}", f"{quoted(column)} {problem}")
        values.append(value)
    text, headline = values
    return Example(text, headline)


def _not_text(value: str) -> str | None:
    """Say what keeps a string from being text: a byte that did not decode, half a character."""
    try:
        value.encode("utf-8")
    except UnicodeEncodeError as error:
        code = ord(value[error.start])
        if 0xDC80 <= code <= 0xDCFF:  # a byte that 'surrogateescape' let through
            return (
                f"holds byte 0x{code - 0xDC00:02x}, which the encoding has no meaning for; "
                "convert the file, or name its --encoding (for example latin-1)"
            )
        return f"holds half a surrogate pair (U+{code:04X}); expected whole characters"
    return None
