"""Tables 1, 2, 3 and the ablations: ROUGE of the paper and ours, side by side."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from readagain.experiments.board import ResultStore, SeedResults
from readagain.experiments.paper import PaperRow, paper_table
from readagain.experiments.results import MEASURES
from readagain.experiments.rows import CONTROLS, ROWS
from readagain.experiments.table import Table, TableSection, Value

_SHORT = {"rouge-1": "R-1", "rouge-2": "R-2", "rouge-l": "R-L"}
_RECIPES = {
    "modern": "Trained with AdamW in batches of 256 (recipe `modern`)",
    "paper": "Trained as the row's paper does (recipe `paper`)",
    "untrained": "Without training",
}
_MARKS = (
    "▲ and ▼: significantly above or below the row named under *held against* (paired bootstrap "
    "and approximate randomisation on the same texts, both p < 0.05; of several seeds all agree)."
)
_SEVERAL = (
    "Rows of several sentences, and the one-sentence row they are held against, are trained and "
    "scored on the texts with at least two sentences alone."
)
_TUNED = (
    "The weights of ABS+ are tuned on DUC2003, as in its paper; where that is what is scored here, "
    "its figure flatters it."
)
_OTHER_DATA = (
    "The paper's figures are of its own data (Gigaword, 3.8 million pairs; {set}), ours of the "
    "corpora named below: compare the rows of a column with each other, not across."
)


@dataclass(frozen=True)
class TableRow:
    """A line of a table: our row, the paper's line if it has one, what it is held against."""

    row: str
    against: str | None
    paper: PaperRow | None = None

    @property
    def label(self) -> str:
        """What our row is called."""
        return ROWS[self.row].title


_AGAINST_1 = {
    "abs_69k": "gru_69k",
    "read_again_gru_69k": "gru_69k",
    "read_again_lstm_69k": "gru_69k",
    "read_again_gru_15k": "gru_15k",
    "read_again_lstm_15k": "gru_15k",
    "read_again_gru_copy_15k": "read_again_gru_15k",
    "read_again_lstm_copy_15k": "read_again_lstm_15k",
    "wide_gru_15k": "read_again_gru_15k",
    "wide_lstm_15k": "read_again_lstm_15k",
    "lstm_copy_15k": "read_again_lstm_copy_15k",
    "wide_lstm_copy_15k": "read_again_lstm_copy_15k",
    "two_sentences_option1_copy_15k": "one_sentence_copy_15k",
    "two_sentences_option2_copy_15k": "one_sentence_copy_15k",
    "joined_sentences_copy_15k": "one_sentence_copy_15k",
}
ABLATIONS: dict[str, str] = {
    "scalar_importance": "read_again_gru_15k",
    "sigmoid_importance": "read_again_gru_15k",
    "copied_as_unknown_15k": "read_again_lstm_copy_15k",
    "copied_as_unknown_2k": "read_again_lstm_copy_2k",
    "lstm_15k": "gru_15k",
    "bidirectional_gru_15k": "gru_15k",
    "bidirectional_read_again_lstm_15k": "read_again_lstm_15k",
    "three_sentences_option2_copy_15k": "two_sentences_option2_copy_15k",
    "five_sentences_option2_copy_15k": "two_sentences_option2_copy_15k",
}


def table1(board: ResultStore) -> Table:
    """Different Read-Again models."""
    lines = _with_paper("table1", _AGAINST_1)
    extra = (*CONTROLS, "one_sentence_copy_15k", "joined_sentences_copy_15k")
    lines += [TableRow(row, _AGAINST_1.get(row)) for row in extra]
    return Table(
        name="table1",
        title="Table 1: Read-Again against one reading, at 69K and 15K, and with two sentences",
        sections=[_section(board, recipe, lines, "f1") for recipe in board.recipes],
        notes=[_OTHER_DATA.format(set="2,000 random samples of its test split"), _MARKS, _SEVERAL],
        facts=facts_of(board, [line.row for line in lines]),
    )


def table2(board: ResultStore) -> Table:
    """All systems by the DUC protocol."""
    ours = "read_again_lstm_copy_15k"
    against = {line.row: ours for line in paper_table("table2") if line.row != ours}
    lines = _with_paper("table2", against)
    lines += [TableRow(row, ours) for row in ("prefix", "lead")]
    return Table(
        name="table2",
        title="Table 2: all systems by the DUC protocol: recall at 75 bytes, four references",
        sections=[_section(board, recipe, lines, "recall") for recipe in board.recipes],
        notes=[_OTHER_DATA.format(set="DUC2004"), _MARKS, _TUNED],
        facts=facts_of(board, [line.row for line in lines]),
    )


def table3(board: ResultStore) -> Table:
    """ROUGE against the decoder's vocabulary."""
    against = {
        line.row: line.row.replace("_copy", "")
        for line in paper_table("table3")
        if "_copy" in line.row
    }
    lines = _with_paper("table3", against)
    return Table(
        name="table3",
        title="Table 3: ROUGE against the decoder's vocabulary, with and without copying",
        sections=[_section(board, recipe, lines, "f1") for recipe in board.recipes],
        notes=[_OTHER_DATA.format(set="as for Table 1"), _MARKS],
        facts=facts_of(board, [line.row for line in lines]),
    )


def ablations(board: ResultStore) -> Table:
    """What the paper mentions in passing."""
    lines = [TableRow(row, against) for row, against in ABLATIONS.items()]
    return Table(
        name="ablations",
        title="Ablations: what the paper mentions in passing",
        sections=[_section(board, recipe, lines, "f1") for recipe in board.recipes],
        notes=[_MARKS, _SEVERAL, "The paper prints no figures for these."],
        facts=facts_of(board, [line.row for line in lines]),
    )


def _with_paper(table: str, against: Mapping[str, str]) -> list[TableRow]:
    return [TableRow(line.row, against.get(line.row), line) for line in paper_table(table)]


def _section(
    board: ResultStore, recipe: str, lines: Sequence[TableRow], figure: str
) -> TableSection:
    """Lay out the lines of one recipe, a column for each measure on each set of that figure."""
    left_out = [line.label for line in lines if board.run_elsewhere(line.row, recipe)]
    lines = [line for line in lines if not board.run_elsewhere(line.row, recipe)]
    entries = {line.row: board.entry(line.row, recipe) for line in lines}
    sets = _sets(entries.values(), figure)
    has_paper = any(line.paper for line in lines)
    columns = ["row", "paper's name", "paper R-1 / R-2 / R-L"] if has_paper else ["row"]
    columns += [f"{name} {_SHORT[measure]}" for name in sets for measure in MEASURES]
    columns += ["held against", "seeds", "parameters", "updates", "minutes"]
    rows = []
    for line in lines:
        entry = entries[line.row]
        row: list[Value] = [line.label]
        if has_paper:
            row += _paper_cells(line.paper)
        for names in sets.values():
            row += _figures(board, line, recipe, entry, names)
        held = ROWS[line.against].title if line.against else "nothing"
        row += [held, *_run_cells(entry)]
        rows.append(row)
    return TableSection(_RECIPES[recipe], columns, rows, left_out)


def _sets(entries: Iterable[SeedResults | None], figure: str) -> dict[str, list[str]]:
    """Name the columns: sets scored by this figure; the part of several sentences joins its whole.

    A corpus and its part with several sentences are one column, since a row sees one of them.
    """
    columns: dict[str, list[str]] = {}
    for entry in entries:
        for name, scored in entry.results[0].sets.items() if entry else ():
            if scored.figure == figure:
                column = name.partition(",")[0]
                names = columns.setdefault(column, [])
                if name not in names:
                    names.append(name)
    return columns


def _figures(
    board: ResultStore, line: TableRow, recipe: str, entry: SeedResults | None, names: Sequence[str]
) -> list[Value]:
    if entry is None:
        return [None] * len(MEASURES)
    own = [name for name in names if name in entry.sets]
    if not own:
        return ["not scored"] * len(MEASURES)
    figures = entry.figures(own[0])
    if line.against is not None:
        compared = board.compare(line.row, line.against, recipe, own[0])
        if compared is not None:
            figures = {
                name: replace(figure, mark=compared[name].mark) for name, figure in figures.items()
            }
    return list(figures.values())


def _paper_cells(paper: PaperRow | None) -> list[Value]:
    if paper is None:
        return ["not in the paper", "none"]
    name = paper.label if paper.size == "-" else f"{paper.label} {paper.size}"
    return [name, " / ".join(f"{value:.2f}" for value in paper.rouge)]


def _run_cells(entry: SeedResults | None) -> list[Value]:
    if entry is None:
        return [None] * 4
    minutes, first = entry.minutes, entry.results[0]
    if minutes is None:
        return [len(entry.results), "none", "none", "untrained"]
    return [len(entry.results), first.parameters, first.training["updates"], minutes]


def facts_of(board: ResultStore, rows: Sequence[str]) -> list[str]:
    """Say which machines, corpora and versions stand behind some rows."""
    results = [result for result in board.results if result.row in rows]
    corpora = {
        f"{result.corpus['name']} ({result.corpus['train_pairs']:,} pairs, fingerprint "
        f"{result.corpus['fingerprint'][:12]})"
        for result in results
        if result.run is not None
    }
    sets = {
        f"{name} ({len(scored.items()):,} texts, {scored.protocol}, fingerprint "
        f"{scored.fingerprint[:12]})"
        for result in results
        for name, scored in result.sets.items()
    }
    machines = {
        f"{result.machine['device']}, torch {result.machine['torch']}, readagain "
        f"{result.machine['readagain']}"
        for result in results
    }
    return [
        f"Scale: {', '.join(sorted({result.scale for result in results})) or 'nothing run'}.",
        f"Trained on: {'; '.join(sorted(corpora)) or 'nothing'}.",
        f"Scored on: {'; '.join(sorted(sets)) or 'nothing'}.",
        f"Machines: {'; '.join(sorted(machines)) or 'none'}.",
    ]
