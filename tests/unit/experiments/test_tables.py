"""Tables from made-up results: what stands where, and what stands where nothing was run."""

import csv
import json

import pytest

from readagain.errors import ArtifactError
from readagain.experiments.board import Figure, ResultStore
from readagain.experiments.measured_tables import importance, table5
from readagain.experiments.rouge_tables import ablations, table1, table2, table3
from readagain.experiments.table import Table, TableSection
from readagain.experiments.time_table import TIMING_FILE, read_timing, table4


def lines_of(table):
    [section] = table.as_json()["sections"]
    return {line[next(iter(line))]: line for line in section["lines"]}


def test_the_papers_figure_stands_beside_ours(result):
    line = lines_of(table1(ResultStore([result("gru_15k", 0.3)])))["GRU 15K"]
    assert line["paper R-1 / R-2 / R-L"] == "24.67 / 11.30 / 23.28"
    assert line["news R-1"]["value"] == pytest.approx(30.0)
    assert line["minutes"] == 1.5


def test_a_row_that_was_not_run_says_so(result):
    table = table1(ResultStore([result("gru_15k")]))
    assert "| GRU 69K | GRU (baseline) 69K | 26.79 / 12.03 / 25.14 | not run |" in table.markdown()
    assert "|  |" not in table.markdown()


@pytest.mark.parametrize("build", [table1, table2, table3, table5, importance, ablations])
def test_every_cell_holds_a_figure_or_a_word(result, build):
    rows = [result("gru_15k"), result("wide_gru_15k"), result("lead", recipe="untrained")]
    cells = [
        cell.strip()
        for line in build(ResultStore(rows)).markdown().splitlines()
        if line.startswith("|")
        for cell in line.strip("|").split("|")
    ]
    assert "" not in cells
    assert "–" not in cells


def test_a_significant_difference_is_marked(result):
    table = table1(ResultStore([result("gru_15k", 0.3), result("read_again_gru_15k", 0.35)]))
    line = lines_of(table)["Read-Again GRU 15K"]
    assert line["held against"] == "GRU 15K"
    assert line["news R-1"]["mark"] == "▲"
    assert "35.00▲" in table.markdown()


def test_the_part_with_several_sentences_shares_the_column_of_its_corpus(result, scored):
    several = result("one_sentence_copy_15k", sets={"news, 2 sentences": scored(0.4)})
    table = table1(ResultStore([result("gru_15k"), several]))
    titles = lines_of(table)
    name = "Read-Again LSTM (C) 15K, first sentence of the same texts"
    assert titles[name]["news R-1"]["value"] == pytest.approx(40.0)


def test_only_duc_sets_stand_in_table_2(result, scored):
    sets = {"news": scored(0.3), "duc2003": scored(0.2, figure="recall")}
    table = table2(ResultStore([result("read_again_lstm_copy_15k", sets=sets)]))
    [section] = table.sections
    assert "duc2003 R-1" in section.columns
    assert "news R-1" not in section.columns


def test_each_recipe_has_a_section(result):
    board = ResultStore([result("gru_15k"), result("gru_15k", recipe="paper")])
    headings = [section.heading for section in table3(board).sections]
    assert [heading.partition("(")[2] for heading in headings] == [
        "recipe `modern`)",
        "recipe `paper`)",
    ]


def test_facts_name_machine_corpus_and_sets(result):
    facts = " ".join(table1(ResultStore([result("gru_15k")])).facts)
    assert "news (1,000 pairs, fingerprint ffffffffffff)" in facts
    assert "news (200 texts, gigaword, fingerprint texts)" in facts
    assert "a GPU" in facts


def test_ablations_are_held_against_what_they_change(result):
    board = ResultStore([result("read_again_gru_15k", 0.3), result("scalar_importance", 0.25)])
    name = "Read-Again GRU 15K, one weight α for all dimensions of a word"
    line = lines_of(ablations(board))[name]
    assert (line["held against"], line["news R-1"]["mark"]) == ("Read-Again GRU 15K", "▼")


def test_table_5_sums_over_seeds_and_gives_the_share(result):
    board = ResultStore([result("read_again_lstm_15k"), result("read_again_lstm_15k", seed=2)])
    line = lines_of(table5(board))["Read-Again LSTM 15K"]
    assert line["reference words outside the common vocabulary"] == 20
    assert line["share written, %"] == 40.0


def test_importance_is_told_by_class(result):
    classes = {
        name: {"words": 5, "mean": 0.25} for name in ("function", "content", "number", "sign")
    }
    gap = {"texts": 4, "mean": 0.1, "low": 0.05, "high": 0.2, "positive_share": 1.0}
    found = {"kind": "weight", "texts": 4, "classes": classes, "content_over_function": gap}
    early = lines_of(importance(ResultStore([result("read_again_gru_15k", importance=found)])))
    assert early["Read-Again GRU 15K"]["nouns"] == "not measured"
    parts = {name: {"words": 5, "mean": 0.5} for name in ("noun", "verb")}
    found |= {"parts": parts, "noun_over_function": gap, "verb_over_function": gap}
    line = lines_of(importance(ResultStore([result("read_again_gru_15k", importance=found)])))
    told = line["Read-Again GRU 15K"]
    assert (told["content words"], told["nouns"]) == ("0.250", "0.500")
    assert told["content minus function (95% interval)"] == "+0.100 (+0.050 to +0.200)"
    assert line["Read-Again LSTM 15K"]["content words"] is None


def test_a_class_without_a_word_has_no_mean(result):
    some = {name: {"words": 5, "mean": 0.25} for name in ("function", "content", "sign", "noun")}
    none = {"words": 0, "mean": 0.0}
    gap = {"texts": 4, "mean": 0.1, "low": 0.05, "high": 0.2, "positive_share": 1.0}
    found = {
        "kind": "weight",
        "texts": 4,
        "classes": {**some, "number": none},
        "parts": {**some, "verb": none},
        "content_over_function": gap,
        "noun_over_function": gap,
        "verb_over_function": dict.fromkeys(gap, 0),
    }
    line = lines_of(importance(ResultStore([result("read_again_gru_15k", importance=found)])))
    told = line["Read-Again GRU 15K"]
    assert (told["number words"], told["verbs"]) == ("no word", "no word")
    assert told["verb minus function (95% interval)"] == "no text with both"


def test_table_4_has_the_papers_times_even_before_ours():
    text = table4(None).markdown()
    assert "| Ours-LSTM | paper, NVIDIA Titan X | 76 | 81 | 111 | 161 | 356 | 4.68 |" in text
    assert "Not measured yet." in text


def test_a_damaged_timing_file_is_named(tmp_path):
    (tmp_path / TIMING_FILE).write_text('{"measured": []}')
    with pytest.raises(ArtifactError, match=r"timing\.json: damaged .* measure again"):
        read_timing(tmp_path)
    assert read_timing(tmp_path / "elsewhere") is None


def test_a_table_is_written_in_three_forms(tmp_path):
    lines = [["a|b", Figure(1.0, 0.5, 1.5, "▲"), 1234], ["c", None, 0.5]]
    Table(
        name="t",
        title="T",
        sections=[TableSection("S", ["row", "score", "n"], lines)],
        notes=["note"],
    ).write(tmp_path)
    text = (tmp_path / "t.md").read_text()
    assert "| a\\|b | 1.00▲ (0.5–1.5) | 1,234 |" in text
    assert "| c | not run | 0.50 |" in text
    assert "- note" in text
    rows = list(csv.reader((tmp_path / "t.csv").read_text().splitlines()))
    assert rows[0] == ["section", "row", "score", "score low", "score high", "score mark", "n"]
    assert rows[1] == ["S", "a|b", "1.0", "0.5", "1.5", "▲", "1234"]
    assert rows[2] == ["S", "c", "", "", "", "", "0.5"]
    content = json.loads((tmp_path / "t.json").read_text())
    assert content["sections"][0]["lines"][0]["score"]["value"] == 1.0


def test_a_row_of_another_recipe_is_named_below_and_not_in_a_line(result):
    board = ResultStore([result("gru_15k"), result("gru_15k", recipe="paper"), result("gru_69k")])
    modern, paper = table1(board).sections
    assert modern.left_out == []
    assert paper.left_out == ["GRU 69K"]
    assert "GRU 69K" not in {line[0] for line in paper.lines}
    assert "Not run by this recipe: GRU 69K." in table1(board).markdown()


@pytest.mark.parametrize("build", [table5, importance])
def test_measured_tables_name_rows_of_another_recipe(result, build):
    names = ("read_again_lstm_copy_15k", "read_again_gru_15k")
    board = ResultStore([result("gru_15k", recipe="paper"), *map(result, names)])
    modern, paper = build(board).sections
    assert not modern.left_out
    assert paper.left_out
    assert not {line[0] for line in paper.lines} & set(paper.left_out)
