"""`readagain models`: list the bundled models and other model folders."""

from typing import Annotated

import typer

EXAMPLES = ("readagain models", "readagain models runs/mine")


def command(
    folders: Annotated[
        list[str] | None,
        typer.Argument(metavar="FOLDER", help="Model folders to list after the bundled models."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="JSON output.")] = False,
) -> None:
    """List models with language, purpose, size, and the number of words that they read."""
    import json

    from readagain.storage.bundled import bundled_models

    rows = [_row(model) for model in (*bundled_models(), *(folders or ()))]
    if as_json:
        print(json.dumps(rows, indent=2, ensure_ascii=False))
    else:
        _print_table(rows)


def _row(model: str) -> dict[str, str | int]:
    from readagain.engine.source import SourceReader
    from readagain.model_dir import ModelDir
    from readagain.storage.bundled import find_model

    model_dir = ModelDir.open(find_model(model))
    reader = SourceReader(model_dir.run, model_dir.source_vocab, model_dir.vocab)
    return {
        "name": model,
        "language": reader.language.code,
        "language_name": reader.language.name,
        "title": model_dir.run.title,
        "bytes": sum(entry.bytes for entry in model_dir.manifest.files.values()),
        "read_sentences": model_dir.run.data.num_sentences,
        "read_words": reader.max_words * reader.num_sequences,
    }


def _print_table(rows: list[dict[str, str | int]]) -> None:
    from rich.markup import escape
    from rich.table import Table

    from readagain.cli.output import print_table
    from readagain.errors import for_terminal

    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("name", no_wrap=True)
    table.add_column("language", no_wrap=True)
    table.add_column("MB", justify="right", no_wrap=True)
    table.add_column("sentences read", justify="right", no_wrap=True)
    table.add_column("words read", justify="right", no_wrap=True)
    table.add_column("title")
    for row in rows:
        numbers = (f"{int(row[name]):,}" for name in ("read_sentences", "read_words"))
        size = f"{int(row['bytes']) / 1e6:.1f}"
        table.add_row(
            *(escape(for_terminal(str(row[name]))) for name in ("name", "language_name")),
            size,
            *numbers,
            escape(for_terminal(str(row["title"]))),
        )
    print_table(table)
