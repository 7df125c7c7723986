"""Worker that summarizes the rows of shards and writes them to files."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from readagain.batch.job_dir import SHARDS, ShardMetadata, checksum
from readagain.batch.locations import open_directory
from readagain.batch.shards import BatchShard
from readagain.config.options import SummarizeOptions, with_defaults
from readagain.engine.summarizer import Summarizer
from readagain.engine.summary import add_summary
from readagain.errors import ArgumentError, require
from readagain.formats.delimited import to_csv
from readagain.formats.jsonl import write_jsonl
from readagain.formats.parquet import make_table, row_values, unpack_table, write_parquet
from readagain.formats.records import SET_ENCODING, InvalidRecord, OnError, invalid_record_error
from readagain.formats.texts import TextFormat, TextRecord
from readagain.model_dir import Precision

OutputFormat = Literal["jsonl", "csv", "parquet"]

OutputRow = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class ShardConfig:
    """Model, decoding options and output of a job."""

    out: str
    """Location of the output directory."""
    model: str
    threads: int = 1
    precision: Precision | None = None
    options: SummarizeOptions = field(default_factory=lambda: SummarizeOptions())
    summary_field: str = "summary"
    has_score: bool = False
    has_confidence: bool = False
    """Add fields with the confidence and the codes of the warnings."""
    output_format: OutputFormat | None = None
    """None for the format of the input; JSONL for plain text."""
    one_file_per_input: bool = False
    """Join the shards of each input to one file at the end of the job."""
    on_error: OnError = "skip"

    @property
    def n_best(self) -> int:
        """Number of summaries per row."""
        return with_defaults(self.options)["n_best"]

    @property
    def writes_score(self) -> bool:
        """Return whether rows get a score; rows with several headlines always do."""
        return self.has_score or self.n_best > 1

    @property
    def added_fields(self) -> tuple[str, ...]:
        """Names of the fields that are added to the rows."""
        names = [self.summary_field]
        if self.writes_score:
            names.append("score")
        if self.has_confidence:
            names += ["confidence", "warnings"]
        if self.n_best > 1:
            names.append("alternatives")
        return tuple(names)


def output_format(option: OutputFormat | None, input_format: TextFormat) -> OutputFormat:
    """Return `option`, or if it is None, the output format for an input format."""
    if input_format == "jsonl" and option not in (None, "jsonl"):  # objects have different fields
        raise ArgumentError(
            "{output_format}: '{0}' is not supported for JSONL input; remove the option", option
        )
    if option is not None:
        return option
    return input_format if input_format in ("csv", "parquet") else "jsonl"


class ShardWorker:
    """Worker that loads the model once and summarizes shards."""

    def __init__(self, config: ShardConfig) -> None:
        self._config = config
        self._directory = open_directory(config.out)
        self._summarizer = Summarizer.load(
            config.model, threads=config.threads, precision=config.precision
        )

    def run(self, shard: BatchShard) -> ShardMetadata:
        """Summarize the rows of a shard; write the rows, then the metadata of the shard."""
        format = output_format(self._config.output_format, shard.schema.format)
        # From Parquet to Parquet, only the texts are parsed; the columns keep their types.
        keeps_columns = format == shard.schema.format == "parquet"
        records = list(shard.records([shard.schema.text_column] if keeps_columns else None))
        if format == "parquet" and not keeps_columns:
            records = list(map(_check_utf8, records))
        rows = self._summarize(records)
        valid = [row for row in rows if not isinstance(row, InvalidRecord)]
        invalid = [row for row in rows if isinstance(row, InvalidRecord)]
        if invalid and self._config.on_error == "stop":
            raise invalid_record_error(invalid[0])
        if keeps_columns:
            content, invalid = self._format_table(shard, rows)
        else:
            content = self._format_rows(format, shard, valid)
        bad = write_jsonl(record.as_row() for record in invalid)
        is_tsv = format == "csv" and shard.schema.delimiter == "\t"
        part = f"{shard.name}.{'tsv' if is_tsv else format}"
        metadata = ShardMetadata(
            source=shard.input_number,
            number=shard.number,
            part=f"{SHARDS}/{part}" if self._config.one_file_per_input else part,
            rows=len(valid),
            bad_rows=len(invalid),
            bytes=len(content),
            sha256=checksum(content),
            bad_sha256=checksum(bad) if invalid else None,
            input_bytes=shard.input_bytes,
            input_sha256=shard.sha256,
        )
        self._directory.write(metadata.part, content)
        if invalid:
            self._directory.write(metadata.bad_part, bad)
        metadata.save(self._directory)
        return metadata

    def _summarize(
        self, records: Sequence[TextRecord | InvalidRecord]
    ) -> list[OutputRow | InvalidRecord]:
        """Return the rows with summaries; invalid records keep their position."""
        config = self._config
        texts = [record.text for record in records if isinstance(record, TextRecord)]
        # An iterator, so that only the summaries of one decoding batch are in memory.
        summaries = self._summarizer.summarize(iter(texts), **config.options)
        return [
            record
            if isinstance(record, InvalidRecord)
            else add_summary(
                record,
                next(summaries),
                field=config.summary_field,
                has_score=config.writes_score,
                has_confidence=config.has_confidence,
            )
            for record in records
        ]

    def _format_table(
        self, shard: BatchShard, rows: Sequence[OutputRow | InvalidRecord]
    ) -> tuple[bytes, list[InvalidRecord]]:
        """Add the new fields to the columns of a Parquet shard.

        Returns:
            The Parquet file of the valid rows, and the invalid rows with all their columns.
        """
        table, indices = _join_tables(shard)
        valid, valid_indices, invalid = [], [], []
        for row, index in zip(rows, indices, strict=True):
            if not isinstance(row, InvalidRecord):
                valid.append(row)
                valid_indices.append(index)
            elif index is None:
                invalid.append(row)
            else:
                invalid.append(replace(row, content=row_values(table, index)))
        return write_parquet(self._add_columns(table.take(valid_indices), valid)), invalid

    def _format_rows(
        self, format: OutputFormat, shard: BatchShard, rows: Sequence[OutputRow]
    ) -> bytes:
        """Return the output file of a shard."""
        columns = shard.schema.columns
        match format:
            case "jsonl":
                return write_jsonl(rows)
            case "csv":
                names = (*columns, *self._config.added_fields)
                return to_csv(
                    rows,
                    names,
                    shard.schema.delimiter,
                    # Of shards to be joined, only the first one has a header.
                    has_header=shard.number == 0 or not self._config.one_file_per_input,
                    has_bom=shard.schema.has_bom,
                )
            case "parquet":
                return write_parquet(self._add_columns(make_table(rows, columns), rows))

    def _add_columns(self, table: Any, rows: Sequence[OutputRow]) -> Any:
        """Add the new fields to a pyarrow table, with the same types in every shard."""
        arrow = require("pyarrow", extra="data", purpose="writing Parquet")
        alternative = arrow.struct([("summary", arrow.string()), ("score", arrow.float64())])
        types = {
            "score": arrow.float64(),
            "confidence": arrow.float64(),
            "warnings": arrow.list_(arrow.string()),
            "alternatives": arrow.list_(alternative),
            # Last, so that it has this type even if the user names the field "score".
            self._config.summary_field: arrow.string(),
        }
        for name in self._config.added_fields:
            values = arrow.array([row.get(name) for row in rows], types[name])
            table = table.append_column(name, values)
        return table


def _join_tables(shard: BatchShard) -> tuple[Any, list[int | None]]:
    """Return the rows of a shard of a Parquet file as one pyarrow table.

    Also return, for each record of the shard, the index of its row in the table; None for a row
    that was too large to be read.
    """
    arrow = require("pyarrow", extra="data", purpose="reading Parquet")
    tables = [unpack_table(piece.block.payload) for piece in shard.pieces]
    indices: list[int | None] = []
    first = 0
    for piece, table in zip(shard.pieces, tables, strict=True):
        is_invalid = piece.block.invalid is not None
        indices += [None] if is_invalid else range(first, first + table.num_rows)
        first += table.num_rows
    return arrow.concat_tables(tables), indices


def _check_utf8(record: TextRecord | InvalidRecord) -> TextRecord | InvalidRecord:
    """Return the record, or an invalid record if its fields are not UTF-8, as Parquet requires."""
    if isinstance(record, InvalidRecord):
        return record
    for name, value in record.fields.items():
        if isinstance(value, str) and not value.isascii():
            try:
                value.encode()
            except UnicodeEncodeError:
                reason = f"'{name}' is not valid text; {SET_ENCODING}"
                return InvalidRecord(record.where, reason, record.fields)
    return record
