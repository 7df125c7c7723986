"""Report of an evaluation: tables for the terminal, and files of summaries."""

from pathlib import Path

from readagain.counts import pluralize
from readagain.evaluation.evaluate import Evaluation
from readagain.evaluation.summaries import SummaryStats
from readagain.formats.jsonl import to_json
from readagain.rouge.options import SCORE_KINDS
from readagain.rouge.tokens import lost_letters_warning
from readagain.storage.files import write_output
from readagain.text.language import LANGUAGES, UNDETERMINED

_STATS = {
    "words": "words, mean",
    "bytes": "bytes, mean",
    "copy_rate": "words copied by the system",
    "novel_1gram_rate": "words not in the text",
    "novel_2gram_rate": "pairs of words not in the text",
    "repetition_rate": "repeated words",
    "distinct": "different summaries",
    "empty": "empty summaries",
}
_MIN_DISTINCT_RATIO = 0.5  # fewer different summaries per text indicate a collapsed model


def write_text(path: Path, content: str) -> None:
    """Write a text file atomically.

    Raises:
        DataError: if it cannot be written; an existing file is then unchanged.
    """
    with write_output(path) as partial:
        partial.write_text(content, encoding="utf-8", newline="\n")


def stats_rows(result: Evaluation) -> list[tuple[str, str, str]]:
    """Return the statistics of summaries and references."""
    return [
        (title, _stat(name, result.stats), _stat(name, result.reference_stats))
        for name, title in _STATS.items()
    ]


def _stat(name: str, stats: SummaryStats) -> str:
    value = getattr(stats, name)
    if value is None:
        return "–"
    if name.endswith("_rate"):
        return f"{100 * value:.1f}%"
    return f"{value:,}" if isinstance(value, int) else f"{value:.1f}"


def metadata(result: Evaluation) -> list[tuple[str, str]]:
    """Return the model, data, options and speed of an evaluation."""
    data = result.data
    form = "tokenized as in Gigaword" if data.is_tokenized else "raw text"
    if not data.is_tokenized and data.language != UNDETERMINED:
        form += f" in {LANGUAGES[data.language].name}"
    texts, *references = data.files
    names = ", ".join([str(texts), *(file.name for file in references)])
    selection = "" if data.selection is None else f", {data.selection}"
    lines = [
        ("model", _describe_model(result)),
        ("data", f"{names} ({data.format}, {form})"),
        ("rows", f"{len(data.rows):,}{selection}, SHA-256 {data.fingerprint}"),
        ("ROUGE", result.rouge.protocol.options.flags()),
        (
            "UNK",
            f"{pluralize(result.rows_with_unk, 'row')} with it in a reference, "
            f"{pluralize(result.summaries_with_unk, 'summary', 'summaries')} with it",
        ),
        ("speed", f"{result.sentences_per_s:,.1f} sentences/s on {result.machine}"),
    ]
    warnings = [collapse_warning(result)]
    if data.skipped:
        first, num_records = data.skipped[0], pluralize(len(data.skipped), "invalid record")
        warnings.insert(0, f"skipped {num_records}, first {first.where}: {first.reason}")
    if not result.rouge.protocol.options.unicode:
        warnings.append(lost_letters_warning(row.references for row in data.rows))
    return [*lines, *(("warning", warning) for warning in warnings if warning is not None)]


def collapse_warning(result: Evaluation) -> str | None:
    """Return a warning if many different texts have the same summary."""
    num_texts = len({row.text for row in result.data.rows})
    distinct = result.stats.distinct
    if distinct >= _MIN_DISTINCT_RATIO * num_texts:
        return None
    summaries = pluralize(distinct, "summary", "different summaries")
    return f"only {summaries} for {pluralize(num_texts, 'different text')}"


def _describe_model(result: Evaluation) -> str:
    details = [
        f"{name} {value}" for name, value in result.details.items() if not isinstance(value, dict)
    ]
    decode: dict[str, float | str] = result.details.get("decode", {})
    settings = [
        f"{name} {value if isinstance(value, str) else f'{value:g}'}"
        for name, value in decode.items()
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
    scores = result.rouge.item_scores[:, :, kind].tolist()  # (I, M)
    records = (
        {
            "text": row.text,
            "references": list(row.references),
            "summary": summary.text,
            **dict(zip(result.rouge.scores, values, strict=True)),
        }
        for row, summary, values in zip(result.data.rows, result.summaries, scores, strict=True)
    )
    write_text(path, "".join(to_json(record) + "\n" for record in records))
