"""Experiments, tables and the paper's own values."""

import pytest

from readagain.errors import ConfigError
from readagain.experiments.catalog import (
    EXPERIMENTS,
    TABLES,
    paper_table,
    plan_runs,
    select_experiments,
)
from readagain.presets import BASELINES, PRESETS

TABLE_1 = """
    abs_69k gru_69k gru_15k read_again_gru_69k read_again_lstm_69k read_again_gru_15k
    read_again_lstm_15k read_again_gru_copy_15k read_again_lstm_copy_15k
    two_sentences_option1_copy_15k two_sentences_option2_copy_15k
"""
TABLE_2 = "topiary abs_69k abs_plus_69k ras_lstm ras_elman lvt2k_1sent lvt5k_1sent prefix"
TABLES_3_AND_4 = [
    f"read_again_lstm{copy}_{size}k" for size in (2, 5, 15, 30, 69) for copy in ("", "_copy")
]


def names_of(runs):
    return [run.name for run in runs]


def experiments_of(*names):
    return [EXPERIMENTS[name] for name in names]


def test_select_without_names_returns_everything():
    assert select_experiments([]) == list(EXPERIMENTS.values())


def test_select_takes_tables_and_experiments():
    experiments = select_experiments(["prefix", "table3"])
    assert {experiment.name for experiment in experiments} == {"prefix", *TABLES["table3"].rows}


def test_select_ablations_includes_what_they_are_compared_with():
    experiments = select_experiments(["ablations"])
    assert {"scalar_importance", "read_again_gru_15k"} <= {
        experiment.name for experiment in experiments
    }


def test_select_orders_experiments_by_importance():
    experiments = select_experiments(["lstm_15k", "gru_15k"])
    assert [experiment.name for experiment in experiments] == ["gru_15k", "lstm_15k"]


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("tabel1", "did you mean 'table1'"),
        ("gru_15", "did you mean 'gru_15k'"),
        ("?", "tables are"),
    ],
)
def test_select_unknown_name_suggests_the_nearest(name, hint):
    with pytest.raises(
        ConfigError, match=rf"no table or experiment '{name.replace('?', '.')}'; {hint}"
    ):
        select_experiments([name])


def test_plan_runs_all_seeds_of_main_experiments_first():
    experiments = experiments_of("gru_15k", "gru_69k", "scalar_importance")
    assert names_of(plan_runs(experiments, ["modern"], seeds=2)) == [
        "gru_15k/modern-seed1",
        "gru_69k/modern-seed1",
        "gru_15k/modern-seed2",
        "gru_69k/modern-seed2",
        "scalar_importance/modern-seed1",
    ]


def test_plan_runs_recipes_in_order_and_baselines_once():
    experiments = experiments_of("gru_15k", "prefix")
    assert names_of(plan_runs(experiments, ["modern", "paper"], seeds=1)) == [
        "prefix/untrained-seed1",
        "gru_15k/modern-seed1",
        "gru_15k/paper-seed1",
    ]


def test_plan_of_one_seed_has_all_experiments():
    experiments = experiments_of("gru_15k", "lstm_15k", "prefix")
    assert names_of(plan_runs(experiments, ["converged"], seeds=1, only_seed=3)) == [
        "prefix/untrained-seed1",
        "gru_15k/converged-seed3",
        "lstm_15k/converged-seed3",
    ]


def test_every_experiment_has_a_table_a_system_and_a_title():
    shown = {name for table in TABLES.values() for name in table.rows}
    assert shown == set(EXPERIMENTS)
    assert all(experiment.system in {**PRESETS, **BASELINES} for experiment in EXPERIMENTS.values())
    assert len({experiment.title for experiment in EXPERIMENTS.values()}) == len(EXPERIMENTS)


@pytest.mark.parametrize("name", sorted({*TABLE_1.split(), *TABLE_2.split(), *TABLES_3_AND_4}))
def test_rows_of_the_paper_are_unchanged_presets(name):
    assert EXPERIMENTS[name].system == name


def test_ablations_differ_from_their_base_on_the_same_texts():
    for name, base_name in TABLES["ablations"].rows.items():
        ablation, base = EXPERIMENTS[name], EXPERIMENTS[base_name]
        assert (ablation.system, dict(ablation.changes)) != (base.system, dict(base.changes))
        assert ablation.min_sentences == base.min_sentences


def test_sentence_experiments_use_the_same_texts():
    found = [experiment for experiment in EXPERIMENTS.values() if experiment.group == "sentences"]
    assert [experiment.min_sentences for experiment in found] == [2] * 4


@pytest.mark.parametrize(("table", "num_rows"), [("table1", 11), ("table2", 10), ("table3", 10)])
def test_paper_table_has_rouge_and_an_experiment_for_each_row(table, num_rows):
    printed = paper_table(table)
    assert len({row.experiment for row in printed}) == len(printed) == num_rows
    for row in printed:
        assert row.experiment in TABLES[table].rows
        assert row.rouge[1] < row.rouge[2] < row.rouge[0]
        assert row.label
        assert row.size


def test_paper_table_4_has_five_sizes_with_and_without_copying():
    plain, copying = paper_table("table4")
    assert list(plain.seconds) == list(copying.seconds) == ["2K", "5K", "15K", "30K", "69K"]
    assert all(plain.seconds[size] < copying.seconds[size] for size in plain.seconds)
    assert (plain.seconds["2K"], copying.seconds["69K"]) == (0.076, 0.376)
    assert all(f"{row.experiment}_15k" in EXPERIMENTS for row in (plain, copying))


def test_paper_values_in_bold_are_the_best():
    one_sentence = [row for row in paper_table("table1") if "sentences" not in row.experiment]
    large = [row for row in one_sentence if row.size == "69K"]
    small = [row for row in one_sentence if row.size == "15K"]
    assert max(large, key=lambda row: row.rouge[0]).rouge == [27.82, 12.74, 26.01]
    assert max(small, key=lambda row: row.rouge[0]).rouge == [27.41, 12.58, 25.74]
    duc = paper_table("table2")
    assert max(row.rouge[0] for row in duc) == 29.89
    assert max(duc, key=lambda row: row.rouge[1]).label == "big-words-lvt2k-1sent"
    assert max(duc, key=lambda row: row.rouge[2]).label == "Ours-Opt-2 (C)"


def test_paper_tables_1_and_3_agree_except_for_two_rows():
    first = {row.experiment: row.rouge for row in paper_table("table1")}
    third = {row.experiment: row.rouge for row in paper_table("table3")}
    differing = {name for name in first.keys() & third.keys() if first[name] != third[name]}
    assert differing == {"read_again_lstm_15k", "read_again_lstm_69k"}
