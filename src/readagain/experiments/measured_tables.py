"""Table 5 and the figure of importance weights, as counts and means."""

from readagain.experiments.board import Board, Entry
from readagain.experiments.plan import rows_of
from readagain.experiments.rouge_tables import facts_of
from readagain.experiments.rows import ROWS
from readagain.experiments.table import Section, Table, Value
from readagain.experiments.word_classes import CLASSES


def table5(board: Board) -> Table:
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
        for row in rows_of("table5"):
            entry = board.entry(row, recipe)
            if entry is None:
                lines.append([ROWS[row].title, "–", *[None] * 6])
                continue
            lines += [[ROWS[row].title, name, *_counts(entry, name)] for name in entry.sets]
        sections.append(Section(recipe, columns, lines))
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


def _counts(entry: Entry, name: str) -> list[Value]:
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


def importance(board: Board) -> Table:
    """Mean importance by word class, and content words against function words."""
    columns = [
        "row",
        "importance is",
        *(f"{name} words" if name != "sign" else "signs" for name in CLASSES),
        "content minus function (95% interval)",
        "texts where positive, %",
        "texts",
    ]
    sections = []
    for recipe in board.recipes:
        lines: list[list[Value]] = []
        for row in rows_of("importance"):
            entry = board.entry(row, recipe)
            found = None if entry is None else entry.results[0].importance
            if found is None:
                lines.append([ROWS[row].title, *[None] * (len(columns) - 1)])
                continue
            gap = found["content_over_function"]
            lines.append(
                [
                    ROWS[row].title,
                    "mean α" if found["kind"] == "weight" else "movement of the state",
                    *(f"{found['classes'][name]['mean']:.3f}" for name in CLASSES),
                    f"{gap['mean']:+.3f} ({gap['low']:+.3f} to {gap['high']:+.3f})",
                    100 * gap["positive_share"],
                    found["texts"],
                ]
            )
        sections.append(Section(recipe, columns, lines))
    return Table(
        name="importance",
        title="Importance of words in the second reading, by word class",
        sections=sections,
        notes=[
            "Function words are a list of prepositions, determiners, pronouns, conjunctions, "
            "auxiliaries and particles; content words are all others with a letter. Which of those "
            "are nouns or verbs is not told apart.",
            "α is averaged over dimensions as in the paper's figure; an LSTM has none, so how far "
            "its second state moves at a word is shown, as a share of the largest move in the "
            "text. Of several seeds the first is shown.",
        ],
        facts=facts_of(board, rows_of("importance")),
    )
