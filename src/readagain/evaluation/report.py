"""Report of an evaluation: rows of its tables, and files of summaries."""

from pathlib import Path

from readagain.errors import pluralize
from readagain.evaluation.evaluate import Evaluation
from readagain.evaluation.summaries import SummaryStats
from readagain.formats.jsonl import to_json
from readagain.rouge.options import SCORE_KINDS
from readagain.rouge.tokens import lost_letters_warning
from readagain.storage.files import write_text
from readagain.text.language import LANGUAGES, UNDETERMINED

_STAT_TITLES = {
    "words": "words, mean",
    "bytes": "bytes, mean",
    "copy_rate": "words copied by the system",
    "novel_1gram_rate": "words not in the text",
    "novel_2gram_rate": "pairs of words not in the text",
    "repetition_rate": "repeated words",
    "distinct": "different summaries",
    "empty": "empty summaries",
}
_MIN_DISTINCT_RATIO = 0.5
"""A model with fewer different summaries per text has probably collapsed."""
_SHORT_HASH = 12
"""Number of characters of a checksum that are printed; the JSON output has all of them."""


def stats_rows(result: Evaluation) -> list[tuple[str, str, str]]:
    """Return the title of each statistic, with its values for summaries and references."""
    return [
        (title, _format_stat(name, result.stats), _format_stat(name, result.reference_stats))
        for name, title in _STAT_TITLES.items()
    ]


def _format_stat(name: str, stats: SummaryStats) -> str:
    value = getattr(stats, name)
    if value is None:
        return "–"
    if name.endswith("_rate"):
        return f"{100 * value:.1f}%"
    return f"{value:,}" if isinstance(value, int) else f"{value:.1f}"


def metadata(result: Evaluation) -> list[tuple[str, str]]:
    """Return model, data, options, speed and warnings of an evaluation as (label, text) rows."""
    data = result.data
    text_form = "tokenized as in Gigaword" if data.is_tokenized else "raw text"
    if not data.is_tokenized and data.language != UNDETERMINED:
        text_form += f" in {LANGUAGES[data.language].name}"
    text_file, *reference_files = data.files
    names = ", ".join([str(text_file), *(file.name for file in reference_files)])
    selection = "" if data.selection is None else f", {data.selection}"
    lines = [
        ("model", _describe_model(result)),
        ("data", f"{names} ({data.format}, {text_form})"),
        ("rows", f"{len(data.rows):,}{selection}, SHA-256 {data.fingerprint[:_SHORT_HASH]}"),
        ("ROUGE", result.rouge.protocol.options.flags()),
        (
            "UNK",
            f"{pluralize(result.rows_with_unk, 'row')} with it in a reference, "
            f"{pluralize(result.summaries_with_unk, 'summary', 'summaries')} with it",
        ),
        ("speed", f"{result.sentences_per_s:,.1f} sentences/s on {result.machine}"),
    ]
    warnings: list[str | None] = []
    if data.skipped:
        first, num_records = data.skipped[0], pluralize(len(data.skipped), "invalid record")
        warnings.append(f"skipped {num_records}, first {first.where}: {first.format_reason()}")
    warnings.append(few_summaries_warning(result))
    if not result.rouge.protocol.options.unicode:
        warnings.append(lost_letters_warning(row.references for row in data.rows))
    return [*lines, *(("warning", warning) for warning in warnings if warning is not None)]


def few_summaries_warning(result: Evaluation) -> str | None:
    """Return a warning if there are many fewer different summaries than different texts."""
    num_texts = len({row.text for row in result.data.rows})
    distinct = result.stats.distinct
    if distinct >= _MIN_DISTINCT_RATIO * num_texts:
        return None
    summaries = pluralize(distinct, "summary", "different summaries")
    return f"only {summaries} for {pluralize(num_texts, 'different text')}"


def _describe_model(result: Evaluation) -> str:
    """Return the name and details of the system, and the settings that differ from its own."""
    details = [
        f"{name} {value[:_SHORT_HASH] if name == 'sha256' else value}"
        for name, value in result.details.items()
        if not isinstance(value, dict)
    ]
    changed: dict[str, float | str] = result.details.get("changed_settings", {})
    settings = [
        f"{name} {value if isinstance(value, str) else f'{value:g}'}"
        for name, value in changed.items()
    ]
    return ", ".join([result.system, *details, *settings])


def save_summaries(path: Path, result: Evaluation) -> None:
    """Write one summary per line; a .jsonl file also has the texts, references and scores.

    Raises:
        DataError: if the file cannot be written.
    """
    if path.suffix.lower() != ".jsonl":
        write_text(path, "".join(f"{summary.text}\n" for summary in result.summaries))
        return
    kind = SCORE_KINDS.index(result.rouge.protocol.main_score)
    item_scores = result.rouge.item_scores[:, :, kind].tolist()  # (items, measures)
    records = (
        {
            "text": row.text,
            "references": list(row.references),
            "summary": summary.text,
            **dict(zip(result.rouge.scores, scores, strict=True)),
        }
        for row, summary, scores in zip(
            result.data.rows, result.summaries, item_scores, strict=True
        )
    )
    write_text(path, "".join(to_json(record) + "\n" for record in records))
