"""Sizes of column chunks of a Parquet file, from the headers of their pages.

They are read without pyarrow, for two reasons: the metadata of a file may state smaller sizes than
those of its pages, and for damaged metadata `RowGroupMetaData.column` throws a C++ exception that
Python cannot catch, which aborts the process.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

# Types of Thrift's compact protocol.
_TRUE, _FALSE, _BYTE, _I16, _I32, _I64, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = range(1, 13)
_INTEGERS = (_I16, _I32, _I64)
_MAX_FIELD_ID = 2**15 - 1
_MAX_INTEGERS = {_I32: 2**31 - 1, _I64: 2**63 - 1}
_MAX_DEPTH = 64
"""Maximum nesting of values, as in pyarrow."""
_HEADER_BYTES = 4 << 10
"""Bytes that are read at first for the header of a page; twice as many if it is longer."""
_MAX_HEADER_BYTES = 16 << 20
"""Maximum size of the header of a page, as in pyarrow."""

_Fields = dict[tuple[int, int], Any]
"""Fields of a structure that are read, by id and type; the value has those of structures in it."""
# Fields of the metadata, of a row group, of a column chunk and of its metadata.
_ROW_GROUPS = (4, _LIST)
_COLUMNS = (1, _LIST)
_META_DATA, _ENCRYPTION = (3, _STRUCT), (8, _STRUCT)
_CHUNK_VALUES, _CHUNK_BYTES, _DATA_OFFSET, _DICTIONARY_OFFSET = ((k, _I64) for k in (5, 7, 9, 11))
_CHUNK: _Fields = {
    _META_DATA: dict.fromkeys((_CHUNK_VALUES, _CHUNK_BYTES, _DATA_OFFSET, _DICTIONARY_OFFSET), {}),
    _ENCRYPTION: {},
}
_FILE: _Fields = {_ROW_GROUPS: {_COLUMNS: _CHUNK}}
# Fields of the header of a page, and of its parts for both types of data pages.
_TYPE, _UNCOMPRESSED_BYTES, _COMPRESSED_BYTES = ((k, _I32) for k in (1, 2, 3))
_DATA_PARTS = {0: (5, _STRUCT), 3: (8, _STRUCT)}
_NUM_VALUES = (1, _I32)
_PAGE: _Fields = {
    **dict.fromkeys((_TYPE, _UNCOMPRESSED_BYTES, _COMPRESSED_BYTES), {}),
    **dict.fromkeys(_DATA_PARTS.values(), {_NUM_VALUES: {}}),
}


@dataclass(frozen=True)
class ChunkSizes:
    """Sizes of the pages of a column chunk that pyarrow reads."""

    num_values: int
    uncompressed_bytes: int


def read_chunk_sizes(path: Path) -> list[list[ChunkSizes]]:
    """Return the sizes of the column chunks of each row group; 0 for encrypted chunks.

    Args:
        path: a file that pyarrow can open, so it ends with a footer.

    Raises:
        ValueError: if the metadata or the header of a page is damaged.
    """
    with path.open("rb") as file:
        num_file_bytes = file.seek(-8, 2) + 8
        num_bytes = int.from_bytes(file.read(4), "little")  # of the metadata; PAR1 is last
        file.seek(-8 - num_bytes, 2)
        try:
            metadata = _ThriftReader(file.read(num_bytes)).read_struct(_FILE)
            groups = [group.get(_COLUMNS, []) for group in metadata.get(_ROW_GROUPS, [])]
            chunks = [chunk.get(_META_DATA, {}) for group in groups for chunk in group]
            # Otherwise a small file could have many chunks with the same pages.
            if sum(max(chunk.get(_CHUNK_BYTES, 0), 0) for chunk in chunks) > num_file_bytes:
                raise ValueError("column chunks that are larger than the file")
            return [[_read_pages(file, chunk) for chunk in group] for group in groups]
        except IndexError as error:
            raise ValueError("metadata that is cut short") from error


def _read_pages(file: BinaryIO, chunk: dict[Any, Any]) -> ChunkSizes:
    """Add up the sizes of the pages of a column chunk."""
    fields = chunk.get(_META_DATA, {})
    # pyarrow refuses to read an encrypted chunk without its key, and an empty one may have an
    # invalid offset.
    if _ENCRYPTION in chunk or fields.get(_CHUNK_VALUES) == 0:
        return ChunkSizes(0, 0)
    position = _size(fields, _DATA_OFFSET)
    if 0 < fields.get(_DICTIONARY_OFFSET, 0) < position:
        position = fields[_DICTIONARY_OFFSET]
    end = position + _size(fields, _CHUNK_BYTES)
    num_values = num_bytes = 0
    while position < end:
        page, num_header_bytes = _read_page_header(file, position)
        num_bytes += _size(page, _UNCOMPRESSED_BYTES)
        if page.get(_TYPE) in _DATA_PARTS:
            num_values += _size(page.get(_DATA_PARTS[page[_TYPE]], {}), _NUM_VALUES)
        position += num_header_bytes + _size(page, _COMPRESSED_BYTES)
    if num_values < _size(fields, _CHUNK_VALUES):  # pyarrow may look for more pages after the end
        raise ValueError("a column chunk with too few values")
    return ChunkSizes(num_values, num_bytes)


def _size(fields: dict[Any, Any], field: tuple[int, int]) -> int:
    number: int = fields.get(field, -1)
    if number < 0:
        raise ValueError("a size is missing or negative")
    return number


def _read_page_header(file: BinaryIO, position: int) -> tuple[dict[Any, Any], int]:
    """Return fields of the header of a page, and its size in bytes."""
    num_bytes = _HEADER_BYTES
    while True:
        file.seek(position)
        content = file.read(num_bytes)
        reader = _ThriftReader(content)
        try:
            return reader.read_struct(_PAGE), reader.position
        except IndexError:
            if len(content) < num_bytes or num_bytes >= _MAX_HEADER_BYTES:
                raise
        num_bytes *= 2


class _ThriftReader:
    """Reader of values in Thrift's compact protocol.

    Numbers out of range and repeated fields are refused: pyarrow cuts off the high bits of such
    numbers, so it would read other values.
    """

    def __init__(self, content: bytes) -> None:
        self._content = content
        self.position = 0

    def read_struct(self, fields: _Fields, depth: int = 0) -> dict[Any, Any]:
        """Return the values of some fields of a structure, and skip the others.

        Args:
            fields: the fields to read.
            depth: the number of values around this one.
        """
        values = {}
        number = 0
        while header := self._read_byte():  # 0 ends the structure
            type = header & 15
            number = number + (header >> 4) if header >> 4 else self._read_integer()
            if not 0 < number <= _MAX_FIELD_ID:
                raise ValueError("metadata with a field id out of range")
            key = (number, type)
            if key in values:  # pyarrow merges repeated structures
                raise ValueError("metadata with a repeated field")
            if key in fields:
                values[key] = self._read(type, fields[key], depth + 1)
            elif type not in (_TRUE, _FALSE):  # the value is the type
                self._skip(type, depth + 1)
        return values

    def _read(self, type: int, fields: _Fields, depth: int) -> Any:
        if type == _STRUCT:
            return self.read_struct(fields, depth)
        if type == _LIST:
            num_items, item_type = self._read_list_header()
            if item_type != _STRUCT and num_items > 0:
                raise ValueError("a list of other values than structures")
            return [self.read_struct(fields, depth) for _ in range(num_items)]
        number = self._read_integer()
        if not -_MAX_INTEGERS[type] - 1 <= number <= _MAX_INTEGERS[type]:
            raise ValueError("metadata with a number out of range")
        return number

    def _skip(self, type: int, depth: int) -> None:
        if depth > _MAX_DEPTH:
            raise ValueError("metadata with too many levels")
        if type in _INTEGERS:
            self._read_varint()
        elif type in (_TRUE, _FALSE, _BYTE):
            self._read_byte()
        elif type == _DOUBLE:
            self.position += 8
        elif type == _BINARY:
            num_bytes = self._read_varint()
            self.position += num_bytes
        elif type in (_LIST, _SET):
            num_items, item_type = self._read_list_header()
            for _ in range(num_items):
                self._skip(item_type, depth + 1)
        elif type == _MAP:
            num_items = self._read_varint()
            types = self._read_byte() if num_items else 0
            for _ in range(num_items):
                self._skip(types >> 4, depth + 1)
                self._skip(types & 15, depth + 1)
        elif type == _STRUCT:
            self.read_struct({}, depth)
        else:
            raise ValueError(f"metadata with a value of unknown type {type}")

    def _read_list_header(self) -> tuple[int, int]:
        header = self._read_byte()
        num_items = header >> 4
        return self._read_varint() if num_items == 15 else num_items, header & 15

    def _read_integer(self) -> int:
        """Return a signed number: 0, -1, 1, -2 and so on are stored as 0, 1, 2, 3."""
        number = self._read_varint()
        return number >> 1 ^ -(number & 1)

    def _read_varint(self) -> int:
        """Return a number that is stored in groups of seven bits, the lowest first."""
        number = 0
        for shift in range(0, 70, 7):
            byte = self._read_byte()
            number |= (byte & 127) << shift
            if byte < 128:
                return number
        raise ValueError("metadata with a number of more than ten bytes")

    def _read_byte(self) -> int:
        byte = self._content[self.position]
        self.position += 1
        return byte
