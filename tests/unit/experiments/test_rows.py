"""Every system that the paper compares is a row that can be run."""

import pytest

from readagain.experiments.plan import is_available
from readagain.experiments.rouge_tables import ABLATIONS
from readagain.experiments.rows import ROWS

TABLE_1 = """
    abs_69k gru_69k gru_15k read_again_gru_69k read_again_lstm_69k read_again_gru_15k
    read_again_lstm_15k read_again_gru_copy_15k read_again_lstm_copy_15k
    two_sentences_option1_copy_15k two_sentences_option2_copy_15k
"""
TABLE_2 = "topiary abs_69k abs_plus_69k ras_lstm ras_elman lvt2k_1sent lvt5k_1sent prefix"
TABLES_3_AND_4 = [
    f"read_again_lstm{copy}_{size}k" for size in (2, 5, 15, 30, 69) for copy in ("", "_copy")
]
NAMED_IN_THE_TABLES = sorted({*TABLE_1.split(), *TABLE_2.split(), *TABLES_3_AND_4})


@pytest.mark.parametrize("name", NAMED_IN_THE_TABLES)
def test_every_row_of_the_papers_tables_can_be_run(name):
    assert is_available(ROWS[name])
    assert ROWS[name].system == name  # as its preset, unchanged


def test_every_row_can_be_run():
    assert [name for name, row in ROWS.items() if not is_available(row)] == []


def test_titles_tell_rows_apart():
    assert len({row.title for row in ROWS.values()}) == len(ROWS)


def test_an_ablation_differs_from_what_it_is_held_against_and_sees_the_same_texts():
    for name, against in ABLATIONS.items():
        row, base = ROWS[name], ROWS[against]
        assert (row.system, dict(row.changes)) != (base.system, dict(base.changes))
        assert row.min_sentences == base.min_sentences


def test_controls_of_two_sentences_see_the_same_texts():
    names = [row.name for row in ROWS.values() if row.group == "sentences"]
    assert len(names) == 4
    assert {ROWS[name].min_sentences for name in names} == {2}
