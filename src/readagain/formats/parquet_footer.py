"""Sizes of column chunks in the footer of a Parquet file.

pyarrow has them too, but for damaged metadata `RowGroupMetaData.column` throws a C++ exception that
Python cannot catch, and the process aborts.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

# Types of Thrift's compact protocol.
_TRUE, _FALSE, _BYTE, _I16, _I32, _I64, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = range(1, 13)
_INTEGERS = (_I16, _I32, _I64)
_MAX_DEPTH = 64
"""Maximum nesting of values, as in pyarrow."""

# Fields of parquet.thrift.
_ROW_GROUPS = (4, _LIST)
_COLUMNS = (1, _LIST)
_META_DATA = (3, _STRUCT)
_NUM_VALUES = (5, _I64)
_UNCOMPRESSED_BYTES = (6, _I64)
_Fields = dict[tuple[int, int], Any]
"""Fields of a structure that are read, by id and type; the value has those of structures in it."""
_FIELDS: _Fields = {
    _ROW_GROUPS: {_COLUMNS: {_META_DATA: {_NUM_VALUES: {}, _UNCOMPRESSED_BYTES: {}}}}
}


@dataclass(frozen=True)
class ChunkSizes:
    """Sizes of a column chunk, as its file states them."""

    num_values: int
    uncompressed_bytes: int


def read_chunk_sizes(path: Path) -> list[list[ChunkSizes]]:
    """Return the sizes of the column chunks of each row group.

    Args:
        path: a file that pyarrow can open, so it ends with a footer.

    Raises:
        ValueError, IndexError: if the metadata is damaged.
    """
    with path.open("rb") as file:
        file.seek(-8, 2)  # the size of the metadata, and PAR1
        num_bytes = int.from_bytes(file.read(4), "little")
        file.seek(-8 - num_bytes, 2)
        metadata = _ThriftReader(file.read(num_bytes)).read_struct(_FIELDS)
    return [
        [_chunk_sizes(chunk.get(_META_DATA, {})) for chunk in group.get(_COLUMNS, [])]
        for group in metadata.get(_ROW_GROUPS, [])
    ]


def _chunk_sizes(fields: dict[tuple[int, int], int]) -> ChunkSizes:
    num_values, num_bytes = fields.get(_NUM_VALUES, -1), fields.get(_UNCOMPRESSED_BYTES, -1)
    if min(num_values, num_bytes) < 0:
        raise ValueError("a column chunk without a valid size")
    return ChunkSizes(num_values, num_bytes)


class _ThriftReader:
    """Reader of values in Thrift's compact protocol."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        self._position = 0

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
            key = (number, type)
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
        return self._read_integer()

    def _skip(self, type: int, depth: int) -> None:
        if depth > _MAX_DEPTH:
            raise ValueError("metadata with too many levels")
        if type in _INTEGERS:
            self._read_varint()
        elif type in (_TRUE, _FALSE, _BYTE):
            self._read_byte()
        elif type == _DOUBLE:
            self._position += 8
        elif type == _BINARY:
            num_bytes = self._read_varint()
            self._position += num_bytes
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
        byte = self._content[self._position]
        self._position += 1
        return byte
