"""Columns of a table that contain the text and the headline."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from readagain.errors import DataError, quoted, type_in_words
from readagain.formats.records import MAX_RECORD_BYTES, SET_ENCODING, InputError, InvalidRecord

ColumnKind = Literal["text", "headline"]

# Names in order of preference. 'source' is often the publisher, and 'summary' may be the text, so
# both are near the end.
COMMON_COLUMNS: dict[ColumnKind, tuple[str, ...]] = {
    "text": (
        "text", "article", "document", "description", "abstract", "body", "content", "story",
        "passage", "source",
    ),
    "headline": ("headline", "title", "heading", "summary", "highlights", "target", "label"),
}  # fmt: skip


def choose_column(
    kind: ColumnKind, names: Sequence[str], user_column: str | None, *, where: str
) -> str:
    """Return `user_column`, or if it is None, the first of `COMMON_COLUMNS` that is in `names`.

    Raises:
        InputError: if there is no such column; the message lists the columns.
    """
    common = COMMON_COLUMNS[kind]
    # Reversed, so that of several names that differ in case, the first one is kept.
    names_by_lower_case = {name.strip().lower(): name for name in reversed(names)}
    if user_column is None:
        matches = (names_by_lower_case[name] for name in common if name in names_by_lower_case)
        column = next(matches, None)
    else:
        column = user_column if user_column in names else None
    if column is not None:
        check_unique(column, names, where=where)
        return column
    column_list = ", ".join(map(quoted, list(names)[:8])) or "none"
    if user_column is not None:
        raise InputError(
            f"{{0}}: no column '{{1}}'; set {{{kind}_column}} to one of {{2}}",
            where,
            user_column,
            column_list,
        )
    raise InputError(
        f"{{0}}: no column for the {kind}; expected one of {', '.join(common)}, found {{1}}; set "
        f"{{{kind}_column}}",
        where,
        column_list,
    )


def check_unique(name: str, names: Sequence[str], *, where: str) -> None:
    """Raise `DataError` when two columns have this name."""
    if list(names).count(name) > 1:
        raise DataError(f"{where}: two columns are called {quoted(name)}; rename one of them")


def get_text(
    fields: Mapping[str, Any], column: str, *, where: str, is_json: bool
) -> str | InvalidRecord:
    """Return the string in a column, or an `InvalidRecord` with the reason.

    Null is an empty cell of a table, but a missing field of a JSON object.
    """
    value = fields.get(column)
    if column not in fields or (is_json and value is None):
        reason = f"nothing under {quoted(column)}; expected a string"
        return InvalidRecord(where, reason, dict(fields))
    if value is None:
        return ""
    if not isinstance(value, str):
        reason = f"{type_in_words(value)} under {quoted(column)}; expected a string"
        return InvalidRecord(where, reason, dict(fields))
    if len(value) > MAX_RECORD_BYTES:
        return InvalidRecord(
            where, f"more than {MAX_RECORD_BYTES:,} characters under {quoted(column)}; shorten it"
        )
    if not value.isascii() and (problem := describe_invalid_text(value)):
        return InvalidRecord(where, f"{quoted(column)} {problem}", dict(fields))
    return value


def describe_invalid_text(value: str) -> str | None:
    """Return why a string is not valid Unicode text, as the end of a reason, or None."""
    try:
        value.encode("utf-8")
    except UnicodeEncodeError as error:
        code = ord(value[error.start])
        if 0xDC80 <= code <= 0xDCFF:  # 'surrogateescape' decodes an invalid byte to this range
            return (
                f"contains byte 0x{code - 0xDC00:02x}, which is not valid in this encoding; "
                f"{SET_ENCODING}"
            )
        return f"contains a lone surrogate (U+{code:04X}); expected whole characters"
    return None
