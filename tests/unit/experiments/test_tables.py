"""Tables from invented results."""

import csv
from dataclasses import replace

import pytest

from readagain.errors import ArtifactError
from readagain.experiments.results import TIMING_FILE, milliseconds, read_timing
from readagain.experiments.store import ResultStore
from readagain.experiments.table import MarkedEstimate, Table, TableSection
from readagain.experiments.tables import build_tables, timing_table
from readagain.experiments.timing import measure_timing

GAP = {"texts": 4, "mean": 0.1, "low": 0.05, "high": 0.2, "positive_share": 1.0}


def build(name, *results):
    return next(table for table in build_tables(ResultStore(results), None) if table.name == name)


def rows_of(table):
    [section] = table.sections
    return {row["row"]: row for row in section.rows}


def test_rouge_table_shows_paper_scores_lengths_and_training(result):
    row = rows_of(build("table1", result("gru_15k", 0.3)))["GRU 15K"]
    assert row["paper R-1 / R-2 / R-L"] == "24.67 / 11.30 / 23.28"
    assert row["news R-1"].value == pytest.approx(30.0)
    assert row["news words"] == "8.2"
    assert row["minutes"] == 1.5


def test_rouge_table_marks_experiments_that_were_not_run(result):
    text = build("table1", result("gru_15k")).markdown()
    assert "| GRU 69K | GRU (baseline) 69K | 26.79 / 12.03 / 25.14 | not run |" in text


@pytest.mark.parametrize(
    "name", ["table1", "table2", "table3", "table5", "importance", "ablations"]
)
def test_tables_have_no_empty_cell(result, name):
    rows = [result("gru_15k"), result("wide_gru_15k"), result("lead", recipe="untrained")]
    cells = [
        cell.strip()
        for line in build(name, *rows).markdown().splitlines()
        if line.startswith("|")
        for cell in line.strip("|").split("|")
    ]
    assert cells
    assert "" not in cells


def test_rouge_table_marks_significant_differences(result):
    table = build("table1", result("gru_15k", 0.3), result("read_again_gru_15k", 0.35))
    row = rows_of(table)["Read-Again GRU 15K"]
    assert row["compared with"] == "GRU 15K"
    assert row["news R-1"].mark == "▲"
    assert "35.00▲" in table.markdown()


def test_own_decoding_is_compared_on_the_same_runs(result, scored):
    own = {"rouge": {"rouge-1": [0.28, 0.27, 0.29]}, "words": 7.5}
    rows = rows_of(
        build(
            "table1",
            result("gru_15k", 0.4),
            result("gru_15k", seed=2, sets={"news": replace(scored(0.3), own=own)}),
            result("gru_69k", 0.3),
            replace(result("read_again_lstm_copy_15k"), run={"model": {"output": "copy"}}),
        )
    )
    columns = ("news R-1 own decoding", "news words own decoding")

    def cells(title):
        return [rows[title][column] for column in columns]

    assert cells("GRU 15K") == ["28.00 (same runs: 30.00; seeds: 1)", "7.5 (same runs: 8.2)"]
    assert cells("GRU 69K") == [None, None]  # may generate UNK, but was not scored so
    assert cells("Read-Again LSTM (C) 15K") == ["the same", "the same"]


def test_part_with_several_sentences_shares_the_column(result, scored):
    several = result("one_sentence_copy_15k", sets={"news, 2 sentences": scored(0.4)})
    rows = rows_of(build("table1", result("gru_15k"), several))
    row = rows["Read-Again LSTM (C) 15K, first sentence of the same texts"]
    assert row["news R-1"].value == pytest.approx(40.0)


def test_table_2_shows_only_duc_data_sets(result, scored):
    sets = {"news": scored(0.3), "duc2003": scored(0.2, figure="recall")}
    [section] = build("table2", result("read_again_lstm_copy_15k", sets=sets)).sections
    assert "duc2003 R-1" in section.columns
    assert "news R-1" not in section.columns


def test_table_has_a_section_for_each_recipe(result):
    table = build("table3", result("gru_15k"), result("gru_15k", recipe="paper"))
    assert [section.heading.partition("(")[2] for section in table.sections] == [
        "recipe `modern`)",
        "recipe `paper`)",
    ]


def test_sources_name_machine_corpus_and_data_sets(result):
    sources = " ".join(build("table1", result("gru_15k")).sources)
    assert "news (1,000 pairs, fingerprint ffffffffffff)" in sources
    assert "news (200 texts, gigaword, fingerprint texts)" in sources
    assert "a GPU" in sources


def test_ablations_are_compared_with_their_base(result):
    table = build("ablations", result("read_again_gru_15k", 0.3), result("scalar_importance", 0.25))
    row = rows_of(table)["Read-Again GRU 15K, one weight α for all dimensions of a word"]
    assert (row["compared with"], row["news R-1"].mark) == ("Read-Again GRU 15K", "▼")


def test_table_5_averages_counts_over_seeds(result):
    table = build("table5", result("read_again_lstm_15k"), result("read_again_lstm_15k", seed=2))
    row = rows_of(table)["Read-Again LSTM 15K"]
    assert row["reference words outside the common vocabulary"] == 10
    assert row["share generated, %"] == 40.0


def test_importance_table_shows_means_by_class(result):
    classes = {
        name: {"words": 5, "mean": 0.25} for name in ("function", "content", "number", "sign")
    }
    found = {
        "kind": "weight",
        "texts": 4,
        "classes": classes,
        "parts": {name: {"words": 5, "mean": 0.5} for name in ("noun", "verb")},
        "content_over_function": GAP,
        "noun_over_function": GAP,
        "verb_over_function": GAP,
    }
    rows = rows_of(build("importance", result("read_again_gru_15k", importance=found)))
    row = rows["Read-Again GRU 15K"]
    assert (row["content words"], row["nouns"]) == ("0.250", "0.500")
    assert row["content minus function (95% interval)"] == "+0.100 (+0.050 to +0.200)"
    assert "content words" not in rows["Read-Again LSTM 15K"]


def test_importance_table_without_words_of_a_class(result):
    some = {name: {"words": 5, "mean": 0.25} for name in ("function", "content", "sign", "noun")}
    none = {"words": 0, "mean": 0.0}
    found = {
        "kind": "weight",
        "texts": 4,
        "classes": {**some, "number": none},
        "parts": {**some, "verb": none},
        "content_over_function": GAP,
        "noun_over_function": GAP,
        "verb_over_function": dict.fromkeys(GAP, 0),
    }
    rows = rows_of(build("importance", result("read_again_gru_15k", importance=found)))
    row = rows["Read-Again GRU 15K"]
    assert (row["number words"], row["verbs"]) == ("no word", "no word")
    assert row["verb minus function (95% interval)"] == "no text with both"


def test_timing_table_has_the_papers_times_before_ours():
    text = timing_table(None).markdown()
    assert "| Ours-LSTM | paper, NVIDIA Titan X | 76 | 81 | 111 | 161 | 356 | 4.68 |" in text
    assert "Not measured yet." in text


@pytest.mark.slow
def test_timing_is_measured_for_every_size(tmp_path):
    measure_timing(tmp_path, scale="small", threads=1)
    timing = read_timing(tmp_path)
    for row in ("read_again_lstm", "read_again_lstm_copy"):
        for precision in ("int8", "float32"):
            times = milliseconds(timing, row, precision, 1)
            assert list(times) == ["2K", "5K", "15K", "30K", "69K"]
            assert all(ms > 0 for ms in times.values())
    assert timing["summary_words"] == 8
    assert "not run" not in timing_table(timing).markdown()


def test_damaged_timing_file_is_reported(tmp_path):
    (tmp_path / TIMING_FILE).write_text('{"measured": []}')
    with pytest.raises(ArtifactError, match=r"timing\.json: damaged .* measure again"):
        read_timing(tmp_path)
    assert read_timing(tmp_path / "elsewhere") is None


def test_table_is_written_as_markdown_and_csv():
    rows = [{"row": "a|b", "score": MarkedEstimate(1.0, 0.5, 1.5, "▲"), "n": 1234}]
    rows.append({"row": "c", "n": 0.5})
    section = TableSection("S", ["row", "score", "n"], rows)
    table = Table(name="t", title="T", sections=[section], notes=["note"])
    text = table.markdown()
    assert "| a\\|b | 1.00▲ (0.5–1.5) | 1,234 |" in text
    assert "| c | not run | 0.50 |" in text
    assert "- note" in text
    lines = list(csv.reader(table.csv().splitlines()))
    assert lines[0] == ["section", "row", "score", "score low", "score high", "score mark", "n"]
    assert lines[1] == ["S", "a|b", "1.0", "0.5", "1.5", "▲", "1234"]
    assert lines[2] == ["S", "c", "", "", "", "", "0.5"]


def test_experiments_of_another_recipe_are_listed_below(result):
    table = build("table1", result("gru_15k"), result("gru_15k", recipe="paper"), result("gru_69k"))
    modern, paper = table.sections
    assert modern.other_recipe == []
    assert paper.other_recipe == ["GRU 69K"]
    assert "GRU 69K" not in {row["row"] for row in paper.rows}
    assert "Not run with this recipe: GRU 69K." in table.markdown()


@pytest.mark.parametrize("name", ["table5", "importance"])
def test_measured_tables_list_experiments_of_another_recipe(result, name):
    names = ("read_again_lstm_copy_15k", "read_again_gru_15k")
    table = build(name, result("gru_15k", recipe="paper"), *map(result, names))
    modern, paper = table.sections
    assert not modern.other_recipe
    assert paper.other_recipe
    assert not {row["row"] for row in paper.rows} & set(paper.other_recipe)
