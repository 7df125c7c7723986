"""What a worker does with a shard: headlines for its rows, written down and noted."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from readagain.batch.folder import open_folder
from readagain.batch.notes import ShardMetadata, checksum
from readagain.batch.rows import OutputFormat, Row, output_format, suffix_of, with_columns
from readagain.batch.shards import BatchShard
from readagain.config.options import SummarizeOptions
from readagain.engine.summarizer import Summarizer
from readagain.engine.summary import add_summary
from readagain.errors import DataError
from readagain.formats.delimited import write_csv
from readagain.formats.jsonl import write_jsonl
from readagain.formats.parquet import make_table, unpack_table, write_parquet
from readagain.formats.records import InvalidRecord
from readagain.formats.texts import TextRecord
from readagain.model_dir import Precision


@dataclass(frozen=True, kw_only=True)
class ShardConfig:
    """What is done with every shard."""

    out: str
    model: str
    threads: int = 1
    precision: Precision | None = None
    options: SummarizeOptions = field(default_factory=lambda: SummarizeOptions())
    summary_field: str = "summary"
    has_score: bool = False
    output_format: OutputFormat | None = None
    strict: bool = False

    @property
    def added_fields(self) -> tuple[str, ...]:
        """Name the fields that rows gain."""
        names = [self.summary_field]
        if self.has_score:
            names.append("score")
        if self.options.get("n_best", 1) > 1:
            names.append("alternatives")
        return tuple(names)


def check_work(work: ShardConfig) -> None:
    """Find out before any work whether the model can be loaded and does what it is asked for.

    Raises:
        ReadAgainError: from the summarizer, about the model or an option.
    """
    summarizer = Summarizer.load(work.model, threads=1, precision=work.precision)
    summarizer.summarize("A text.", **work.options)


class ShardWorker:
    """Does shards, one after the other, with a model that is loaded once.

    Args:
        work: what is done with every shard.
    """

    def __init__(self, work: ShardConfig) -> None:
        self._work = work
        self._folder = open_folder(work.out)
        self._summarizer = Summarizer.load(
            work.model, threads=work.threads, precision=work.precision
        )

    def do(self, shard: BatchShard) -> ShardMetadata:
        """Summarize the rows of a shard, write them, and then the note that says so.

        Raises:
            DataError: when a row is bad and the job is strict, or the folder cannot be written to.
        """
        kind = output_format(self._work.output_format, shard.layout.format)
        keeps_table = kind == shard.layout.format == "parquet"
        found = list(shard.records([shard.layout.text_column] if keeps_table else None))
        rows = self._summarized(found)
        if kind == "parquet" and not keeps_table:
            rows = [_encodable(row, each.where) for row, each in zip(rows, found, strict=True)]
        good = [row for row in rows if not isinstance(row, InvalidRecord)]
        bad = [row for row in rows if isinstance(row, InvalidRecord)]
        if bad and self._work.strict:
            raise DataError(
                f"{bad[0].where}: {bad[0].reason}; without --strict such rows are set aside"
            )
        if keeps_table:
            places = [place for place, row in enumerate(rows) if not isinstance(row, InvalidRecord)]
            table = unpack_table(shard.pieces[0].block.payload).take(places)
            content = write_parquet(self._completed(table, good))
        else:
            content = self._spelled(kind, shard, good)
        note = ShardMetadata(
            source=shard.source,
            number=shard.number,
            part=f"{shard.name}{suffix_of(kind, shard.layout)}",
            rows=len(good),
            bad_rows=len(bad),
            bytes=len(content),
            sha256=checksum(content),
            bad_sha256=checksum(_spell_bad(bad)) if bad else None,
            input_bytes=shard.input_bytes,
            input_sha256=shard.sha256,
        )
        self._folder.write(note.part, content)
        if bad:
            self._folder.write(note.bad_part, _spell_bad(bad))
        note.save(self._folder)
        return note

    def _summarized(self, found: Sequence[TextRecord | InvalidRecord]) -> list[Row | InvalidRecord]:
        """Add summaries to the records; what is bad keeps its place among them."""
        work = self._work
        records = [each for each in found if isinstance(each, TextRecord)]
        texts = [record.text for record in records]
        summaries = iter(self._summarizer.summarize(texts, **work.options))
        return [
            each
            if isinstance(each, InvalidRecord)
            else add_summary(
                each, next(summaries), field=work.summary_field, has_score=work.has_score
            )
            for each in found
        ]

    def _spelled(self, kind: OutputFormat, shard: BatchShard, rows: Sequence[Row]) -> bytes:
        columns = shard.layout.columns
        match kind:
            case "jsonl":
                return write_jsonl(rows)
            case "csv":
                names = (*columns, *self._work.added_fields)
                return write_csv(rows, names, shard.layout.delimiter)
            case "parquet":
                return write_parquet(self._completed(make_table(rows, columns), rows))

    def _completed(self, table: object, rows: Sequence[Row]) -> object:
        work = self._work
        return with_columns(table, rows, field=work.summary_field, names=work.added_fields)


def _encodable(row: Row | InvalidRecord, where: str) -> Row | InvalidRecord:
    """Refuse a row that Parquet, which holds UTF-8 alone, cannot hold."""
    if isinstance(row, InvalidRecord):
        return row
    for name, value in row.items():
        if isinstance(value, str) and not value.isascii():
            try:
                value.encode()
            except UnicodeEncodeError:
                return InvalidRecord(
                    where,
                    f"'{name}' holds what is no text; convert the file, or name its --encoding "
                    "(for example latin-1)",
                )
    return row


def _spell_bad(bad: Sequence[InvalidRecord]) -> bytes:
    rows = []
    for each in bad:
        file, _, row = each.where.rpartition(":")
        is_numbered = bool(file) and row.isdecimal()
        rows.append(
            {
                "file": file if is_numbered else each.where,
                "row": int(row) if is_numbered else 1,
                "reason": each.reason,
            }
        )
    return write_jsonl(rows)
