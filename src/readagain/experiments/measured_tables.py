"""Table 5 and the figure of importance weights, as counts and means."""

from typing import Any

from readagain.experiments.board import ResultStore, SeedResults
from readagain.experiments.plan import rows_of
from readagain.experiments.rouge_tables import facts_of
from readagain.experiments.rows import ROWS
from readagain.experiments.table import Table, TableSection, Value
from readagain.experiments.word_classes import CLASSES

_SHOWN_PARTS = ("noun", "verb")


def table5(board: ResultStore) -> Table:
    """Out-of-vocabulary words of references: how many were written, with and without copying."""
    columns = [
        "row",
        "set",
        "reference words outside the common vocabulary",
        "of these in the text",
        "of these written",
        "share written, %",
        "such words in summaries",
        "of these in no reference",
    ]
    sections = []
    for recipe in board.recipes:
        lines: list[list[Value]] = []
        left_out = []
        for row in rows_of("table5"):
            if board.run_elsewhere(row, recipe):
                left_out.append(ROWS[row].title)
                continue
            entry = board.entry(row, recipe)
            if entry is None:
                lines.append([ROWS[row].title, "every set", *[None] * 6])
                continue
            lines += [[ROWS[row].title, name, *_counts(entry, name)] for name in entry.sets]
        sections.append(TableSection(recipe, columns, lines, left_out))
    return Table(
        name="table5",
        title="Table 5: words outside the vocabulary that copying brings into summaries",
        sections=sections,
        notes=[
            "The common vocabulary is that of the 15K rows (at small scale 150 words), so that "
            "rows of all sizes are counted alike; punctuation is not counted. Several seeds are "
            "summed.",
            "The paper shows five examples and no count. Examples from the dev set, chosen by "
            "rule, are written to examples.md beside the rows, and are not for publishing.",
        ],
        facts=facts_of(board, rows_of("table5")),
    )


def _counts(entry: SeedResults, name: str) -> list[Value]:
    found = [each.unknown["common"] for each in entry.of(name)]
    total = {key: sum(each[key] for each in found) for key in found[0]}
    share = 100 * total["written"] / total["words"] if total["words"] else 0.0
    return [
        total["words"],
        total["in_source"],
        total["written"],
        share,
        total["summary_words"],
        total["wrong"],
    ]


def _mean(found: dict[str, Any], kinds: str, name: str) -> str:
    # Rows of the first days were measured without parts of speech.
    if kinds not in found:
        return "not measured"
    weights = found[kinds][name]
    return f"{weights['mean']:.3f}" if weights["words"] else "no word"


def _gap(found: dict[str, Any], name: str) -> str:
    gap = found.get(f"{name}_over_function")
    if gap is None:
        return "not measured"
    if not gap["texts"]:
        return "no text with both"
    return f"{gap['mean']:+.3f} ({gap['low']:+.3f} to {gap['high']:+.3f})"


def importance(board: ResultStore) -> Table:
    """Mean importance by word class, and content words against function words."""
    columns = [
        "row",
        "importance is",
        *(f"{name} words" if name != "sign" else "signs" for name in CLASSES),
        *(f"{name}s" for name in _SHOWN_PARTS),
        *(f"{name} minus function (95% interval)" for name in ("content", *_SHOWN_PARTS)),
        "texts where content weighs more, %",
        "texts",
    ]
    sections = []
    for recipe in board.recipes:
        lines: list[list[Value]] = []
        left_out = []
        for row in rows_of("importance"):
            if board.run_elsewhere(row, recipe):
                left_out.append(ROWS[row].title)
                continue
            entry = board.entry(row, recipe)
            found = None if entry is None else entry.results[0].importance
            if found is None:
                lines.append([ROWS[row].title, *[None] * (len(columns) - 1)])
                continue
            lines.append(
                [
                    ROWS[row].title,
                    "mean α" if found["kind"] == "weight" else "movement of the state",
                    *(_mean(found, "classes", name) for name in CLASSES),
                    *(_mean(found, "parts", name) for name in _SHOWN_PARTS),
                    *(_gap(found, name) for name in ("content", *_SHOWN_PARTS)),
                    100 * found["content_over_function"]["positive_share"],
                    found["texts"],
                ]
            )
        sections.append(TableSection(recipe, columns, lines, left_out))
    return Table(
        name="importance",
        title="Importance of words in the second reading, by word class",
        sections=sections,
        notes=[
            "Parts of speech are told from the form of a word alone, by lists and endings "
            "(`text/tagging.py`). Function words are prepositions, determiners, pronouns, "
            "conjunctions, auxiliaries and particles; content words are all others with a letter, "
            "among them those that may be noun or verb.",
            "α is averaged over dimensions as in the paper's figure; an LSTM has none, so how far "
            "its second state moves at a word is shown, as a share of the largest move in the "
            "text. Of several seeds the first is shown.",
        ],
        facts=facts_of(board, rows_of("importance")),
    )
