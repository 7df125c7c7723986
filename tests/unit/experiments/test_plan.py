import pytest

from readagain.errors import ConfigError
from readagain.experiments.plan import TABLES, choose_rows, is_available, plan_runs, rows_of
from readagain.experiments.rows import ROWS, Experiment


def names_of(runs):
    return [run.name for run in runs]


def test_without_names_everything_is_meant():
    rows, tables = choose_rows([])
    assert [row.name for row in rows] == list(ROWS)
    assert tables == list(TABLES)


def test_tables_and_rows_can_be_named_together():
    rows, tables = choose_rows(["prefix", "table3"])
    assert tables == ["table3"]
    assert {row.name for row in rows} == {"prefix", *rows_of("table3")}


def test_rows_come_in_the_order_of_what_matters_whatever_the_order_of_names():
    rows, _ = choose_rows(["lstm_15k", "gru_15k"])
    assert [row.name for row in rows] == ["gru_15k", "lstm_15k"]


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("tabel1", "did you mean 'table1'"),
        ("gru_15", "did you mean 'gru_15k'"),
        ("?", "tables are"),
    ],
)
def test_a_name_that_is_neither_is_answered_with_the_nearest(name, hint):
    with pytest.raises(ConfigError, match=rf"no table or row '{name.replace('?', '.')}'; {hint}"):
        choose_rows([name])


def test_main_rows_have_other_seeds_before_other_rows_have_any():
    rows = [ROWS[name] for name in ("gru_15k", "gru_69k", "lstm_15k")]
    assert names_of(plan_runs(rows, ["modern"], seeds=2)) == [
        "gru_15k/modern-seed1",
        "gru_69k/modern-seed1",
        "gru_15k/modern-seed2",
        "gru_69k/modern-seed2",
        "lstm_15k/modern-seed1",
    ]


def test_one_recipe_comes_after_the_other_and_untrained_rows_come_once():
    rows = [ROWS[name] for name in ("gru_15k", "prefix")]
    assert names_of(plan_runs(rows, ["modern", "paper"], seeds=1)) == [
        "prefix/untrained-seed1",
        "gru_15k/modern-seed1",
        "gru_15k/paper-seed1",
    ]


def test_a_row_of_another_version_is_not_available():
    assert is_available(ROWS["gru_15k"])
    assert is_available(ROWS["prefix"])
    assert not is_available(Experiment(name="x", system="of_the_future", title="x", group="rivals"))


def test_every_row_belongs_to_a_table():
    assert {name for table in TABLES for name in rows_of(table)} == set(ROWS)
