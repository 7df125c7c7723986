"""The paper's figures as data: complete, and some of them as anybody can read them there."""

import pytest

from readagain.experiments.paper import paper_table
from readagain.experiments.rows import ROWS


@pytest.mark.parametrize(("table", "lines"), [("table1", 11), ("table2", 10), ("table3", 10)])
def test_every_line_of_a_table_is_there_with_three_figures_and_a_row_of_ours(table, lines):
    printed = paper_table(table)
    assert len(printed) == lines
    assert len({line.row for line in printed}) == lines
    for line in printed:
        assert line.row in ROWS
        assert len(line.rouge) == 3
        assert line.rouge[1] < line.rouge[2] < line.rouge[0]
        assert line.label
        assert line.size


def test_table_4_has_five_sizes_with_and_without_copying():
    plain, copying = paper_table("table4")
    assert list(plain.seconds) == list(copying.seconds) == ["2K", "5K", "15K", "30K", "69K"]
    assert all(plain.seconds[size] < copying.seconds[size] for size in plain.seconds)
    assert (plain.seconds["2K"], copying.seconds["69K"]) == (0.076, 0.376)
    assert all(f"{line.row}_15k" in ROWS for line in (plain, copying))


def test_what_the_paper_prints_in_bold_is_the_best():
    one_sentence = [line for line in paper_table("table1") if line.input == "1 sent"]
    large = [line for line in one_sentence if line.size == "69K"]
    small = [line for line in one_sentence if line.size == "15K"]
    assert max(large, key=lambda line: line.rouge[0]).rouge == (27.82, 12.74, 26.01)
    assert max(small, key=lambda line: line.rouge[0]).rouge == (27.41, 12.58, 25.74)
    duc = paper_table("table2")
    assert max(line.rouge[0] for line in duc) == 29.89
    assert max(duc, key=lambda line: line.rouge[1]).label == "big-words-lvt2k-1sent"
    assert max(duc, key=lambda line: line.rouge[2]).label == "Ours-Opt-2 (C)"


def test_tables_1_and_3_agree_but_for_the_digits_that_the_paper_prints_differently():
    first = {line.row: line.rouge for line in paper_table("table1")}
    third = {line.row: line.rouge for line in paper_table("table3")}
    shared = first.keys() & third.keys()
    apart = {row for row in shared if first[row] != third[row]}
    assert apart == {"read_again_lstm_15k", "read_again_lstm_69k"}
