"""`readagain batch`: write headlines for many files in a resumable job."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, Unpack

import typer

from readagain.cli import options
from readagain.cli.inputs import make_read_options
from readagain.cli.main import resumable
from readagain.cli.options import running_option, writing_option
from readagain.config.options import SummarizeOptions
from readagain.errors import ConfigError, pluralize
from readagain.processors import check_parallelism
from readagain.storage.bundled import DEFAULT_MODEL

if TYPE_CHECKING:
    from readagain.batch.job_dir import JobManifest
    from readagain.corpus.workers import JobProgress

EXAMPLES = (
    "readagain batch 'news/*.jsonl.gz' headlines/",
    "readagain batch news.parquet headlines/ --text-column body --field headline",
)


@options.decoding_options()
def command(
    inputs: Annotated[
        list[str],
        typer.Argument(
            metavar="INPUT",
            help="Files, glob patterns or URLs (s3://…): .jsonl, .csv, .tsv, .parquet or .txt (one "
            "text per file); they may be compressed: .gz, .xz or .zst.",
        ),
    ],
    out: Annotated[
        str, typer.Argument(metavar="OUT_DIR", help="Folder or URL for the output shards.")
    ],
    *,
    engine: Annotated[
        Literal["local", "ray"],
        typer.Option(help="Where texts are summarized: in local processes or on a Ray cluster."),
    ] = "local",
    model: options.Model = DEFAULT_MODEL,
    format: options.TextFormat = None,
    text_column: options.TextColumn = None,
    encoding: options.Encoding = "utf-8",
    on_error: options.OnErrorOption = "skip",
    output_format: Annotated[
        Literal["jsonl", "csv", "parquet"] | None,
        writing_option(help="Output format.", show_default="format of the input; jsonl for text"),
    ] = None,
    one_file_per_input: Annotated[
        bool,
        writing_option(
            "--one-file-per-input",
            help="Join the shards of each input into one file of the same name in OUT_DIR.",
        ),
    ] = False,
    field: options.SummaryField = "summary",
    score: Annotated[bool, writing_option("--score", help="Add the field 'score'.")] = False,
    confidence: Annotated[
        bool, writing_option("--confidence", help="Add the fields 'confidence' and 'warnings'.")
    ] = False,
    shard_rows: Annotated[
        int | None,
        writing_option(
            help="Rows per shard.",
            show_default="1,024 for the first 64 shards of a file, then 16,384, or 16 MB",
        ),
    ] = None,
    overwrite: Annotated[
        bool,
        writing_option("--overwrite", help="Replace an existing job in OUT_DIR."),
    ] = False,
    update: Annotated[
        bool,
        writing_option(
            "--update",
            help="Continue a job whose inputs have changed; shards with unchanged rows are kept.",
        ),
    ] = False,
    workers: Annotated[
        int,
        running_option(min=0, help="Number of processes; 0 for all processors."),
    ] = 0,
    threads: Annotated[int, running_option(min=1, help="Number of threads per process.")] = 1,
    precision: options.Precision = None,
    address: Annotated[
        str | None,
        running_option(
            help="With --engine ray: HOST:PORT of the cluster, or 'auto' on a node of the cluster."
        ),
    ] = None,
    **decoding: Unpack[SummarizeOptions],
) -> None:
    """Write headlines for all rows of many files; the output keeps all fields.

    The same command resumes an interrupted job.
    """
    from readagain.batch.job import BatchJob, group_inputs
    from readagain.batch.locations import find_files
    from readagain.batch.run import local_engine, run_batch
    from readagain.batch.shard_worker import ShardConfig
    from readagain.batch.shards import SplitOptions
    from readagain.cli.progress import job_progress

    _check_output_folder(out)
    if address is not None and engine != "ray":
        raise ConfigError(f"--address {address}: needs --engine ray; add it or remove --address")
    if engine == "local":  # not for Ray, whose machines may have more processors
        check_parallelism("threads", threads)
        if workers:
            check_parallelism("workers", workers)
    read_options = make_read_options(format, text_column, encoding)
    config = ShardConfig(
        out=out,
        model=model,
        threads=threads,
        precision=precision,  # type: ignore[arg-type]
        options=decoding,
        summary_field=field,
        has_score=score,
        has_confidence=confidence,
        output_format=output_format,
        one_file_per_input=one_file_per_input,
        on_error=on_error,
    )
    job = BatchJob(
        inputs=tuple(group_inputs(find_files(inputs, out=out), read_options)),
        split=SplitOptions(
            read=read_options, shard_rows=shard_rows, added_fields=config.added_fields
        ),
        config=config,
        overwrite=overwrite,
        update=update,
    )
    if engine == "ray":
        from readagain.batch.ray import ray_engine

        run_shards = ray_engine(address=address, num_workers=workers)
    else:
        run_shards = local_engine(num_workers=workers)
    kept_rows = 0
    with resumable(), job_progress() as show:

        def on_progress(progress: "JobProgress") -> None:
            nonlocal kept_rows
            kept_rows = progress.resumed
            show(progress)

        manifest = run_batch(job, run_shards, on_progress=on_progress)
    _print_summary(manifest, out, kept_rows)


def _check_output_folder(out: str) -> None:
    """Raise `ConfigError` if the last argument is a file, so that the output folder is missing."""
    from readagain.formats.texts import TABLE_SUFFIXES

    path = Path(out)
    if "://" in out or path.is_dir():
        return
    if path.exists():
        raise ConfigError(
            f"{out}: is a file, but the last argument must be the output folder; add a folder "
            "as the last argument"
        )
    if path.suffix.lower() in TABLE_SUFFIXES:
        raise ConfigError(
            f"{out}: is the name of a file, but the output is a folder; name a folder, such as "
            f"{path.with_suffix('')}"
        )


def _print_summary(manifest: "JobManifest", out: str, kept_rows: int) -> None:
    from readagain.batch.job_dir import BAD_ROWS

    kept_note = f", {pluralize(kept_rows, 'row')} kept from an earlier run" if kept_rows else ""
    bad_note = ""
    if manifest.bad_rows:
        directory = f"{out.rstrip('/')}/{BAD_ROWS}"
        bad_note = f", {pluralize(manifest.bad_rows, 'bad row')} written to {directory}"
    if not manifest.rows and not manifest.bad_rows:
        print("readagain: no texts in the input", file=sys.stderr)
    written_files = pluralize(len(manifest.shards), "shard")
    if manifest.settings["one_file_per_input"]:
        written_files = pluralize(len({shard.source for shard in manifest.shards}), "file")
    print(f"{out}: {pluralize(manifest.rows, 'row')} in {written_files}{kept_note}{bad_note}")
