"""`readagain batch`: headlines for millions of texts, restartable, on one machine or many."""

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Unpack

import typer

from readagain.cli import options
from readagain.cli.options import READING, RUNNING, WRITING
from readagain.config.options import SummarizeOptions
from readagain.storage.bundled import DEFAULT_MODEL

if TYPE_CHECKING:
    from readagain.batch.job_folder import JobManifest
    from readagain.batch.run import Engine


class EngineName(StrEnum):
    """Who does the work."""

    LOCAL = "local"
    RAY = "ray"


@options.decoding_options()
def command(
    inputs: Annotated[
        list[str],
        typer.Argument(
            metavar="INPUT",
            help="Files, patterns or addresses (s3://…): .jsonl, .csv, .tsv, .parquet, .txt (one "
            "text each), also .gz, .xz and .zst.",
        ),
    ],
    out: Annotated[
        str, typer.Argument(metavar="OUT_DIR", help="Folder or address to write shards into.")
    ],
    *,
    engine: Annotated[
        EngineName, typer.Option(help="Processes on this machine, or a Ray cluster.")
    ] = EngineName.LOCAL,
    model: options.Model = DEFAULT_MODEL,
    format: options.TextFormat = None,
    text_column: options.TextColumn = None,
    encoding: options.Encoding = "utf-8",
    strict: Annotated[
        bool,
        typer.Option(
            "--strict",
            help="Stop at a row that cannot be used; else it is set aside under bad/.",
            rich_help_panel=READING,
        ),
    ] = False,
    output_format: Annotated[
        str | None,
        typer.Option(
            help="jsonl, csv or parquet; as the input unless given, jsonl for plain text.",
            rich_help_panel=WRITING,
            show_default=False,
        ),
    ] = None,
    field: options.SummaryField = "summary",
    score: Annotated[
        bool, typer.Option("--score", help="Add the field 'score'.", rich_help_panel=WRITING)
    ] = False,
    shard_rows: Annotated[
        int, typer.Option(help="Rows of a shard, at most.", rich_help_panel=WRITING)
    ] = 1024,
    overwrite: Annotated[
        bool,
        typer.Option(
            "--overwrite", help="Remove another job that is in OUT_DIR.", rich_help_panel=WRITING
        ),
    ] = False,
    update: Annotated[
        bool,
        typer.Option(
            "--update",
            help="Go on though inputs have changed: shards whose rows are the same are kept.",
            rich_help_panel=WRITING,
        ),
    ] = False,
    workers: Annotated[
        int,
        typer.Option(
            min=0, help="Engines side by side; 0 takes all processors.", rich_help_panel=RUNNING
        ),
    ] = 0,
    threads: Annotated[
        int, typer.Option(min=1, help="Threads of each engine.", rich_help_panel=RUNNING)
    ] = 1,
    precision: options.Precision = None,
    address: Annotated[
        str | None,
        typer.Option(
            help="With --engine ray: the cluster, 'auto' on one of its nodes, or HOST:PORT.",
            rich_help_panel=RUNNING,
        ),
    ] = None,
    **decoding: Unpack[SummarizeOptions],
) -> None:
    """Write headlines for every row of many files, in shards, with every field kept.

    Killed or interrupted, it goes on where it stopped when the same command is given again.
    """
    import sys

    from readagain.batch.files import find_files
    from readagain.batch.job import BatchJob
    from readagain.batch.rows import OUTPUT_FORMATS
    from readagain.batch.run import run_batch
    from readagain.batch.sources import CutOptions, group_sources
    from readagain.batch.work import ShardConfig
    from readagain.cli.inputs import read_options
    from readagain.cli.main import EXIT_INTERRUPTED
    from readagain.cli.progress import shown_progress
    from readagain.errors import ConfigError

    if output_format is not None and output_format not in OUTPUT_FORMATS:
        raise ConfigError(
            f"no output format '{output_format}'; expected one of {', '.join(OUTPUT_FORMATS)}"
        )
    if address is not None and engine is not EngineName.RAY:
        raise ConfigError(f"--address {address}: goes with --engine ray")
    if engine is EngineName.LOCAL:  # the machines of a cluster are their own judges
        options.check_threads(threads)
        options.check_workers(workers)
    reading = read_options(format, text_column, encoding)
    work = ShardConfig(
        out=out,
        model=model,
        threads=threads,
        precision=precision,  # type: ignore[arg-type]
        options=decoding,
        summary_field=field,
        has_score=score,
        output_format=output_format,
        strict=strict,
    )
    job = BatchJob(
        sources=tuple(group_sources(find_files(inputs, out=out), reading)),
        cut=CutOptions(read=reading, shard_rows=shard_rows, added_fields=work.added_fields),
        work=work,
        overwrite=overwrite,
        update=update,
    )
    try:
        with shown_progress("summarizing") as on_progress:
            manifest = run_batch(job, _engine(engine, workers, address), on_progress=on_progress)
    except KeyboardInterrupt as interruption:
        print("readagain: interrupted; the same command goes on where it stopped", file=sys.stderr)
        raise typer.Exit(EXIT_INTERRUPTED) from interruption
    _print_summary(manifest, out)


def _engine(name: EngineName, workers: int, address: str | None) -> "Engine":
    if name is EngineName.RAY:
        from readagain.batch.ray import ray_engine

        return ray_engine(address=address, num_workers=workers)
    from readagain.batch.local import local_engine

    return local_engine(num_workers=workers)


def _print_summary(manifest: "JobManifest", out: str) -> None:
    from readagain.batch.notes import BAD_ROWS
    from readagain.counts import counted

    bad = ""
    if manifest.bad_rows:
        folder = f"{out.rstrip('/')}/{BAD_ROWS}"
        bad = f", {counted(manifest.bad_rows, 'bad row')} set aside in {folder}"
    print(
        f"{out}: {counted(manifest.rows, 'row')} in {counted(len(manifest.shards), 'shard')}{bad}"
    )
