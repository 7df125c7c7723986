"""Presets of the rows of the tables."""

from dataclasses import replace

import pytest

from readagain.config.files import load_run
from readagain.config.schema import AttentiveBagSpec, HierarchicalSpec, OnePassSpec, ReadAgainSpec
from readagain.model_dir import RUN_FILE
from readagain.presets import BASELINES, PRESETS
from readagain.storage.bundled import bundled_models

SIZES = (2, 5, 15, 30, 69)


def test_every_system_of_the_tables_is_a_preset():
    assert PRESETS.keys() >= {
        *(f"gru_{size}k" for size in (15, 69)),
        *(f"read_again_gru_{size}k" for size in (15, 69)),
        *(f"read_again_lstm_{size}k" for size in SIZES),
        *(f"read_again_lstm_copy_{size}k" for size in SIZES),
        "read_again_gru_copy_15k",
        "two_sentences_option1_copy_15k",
        "two_sentences_option2_copy_15k",
        "abs_69k",
        "abs_plus_69k",
        "ras_elman",
        "ras_lstm",
        "lvt2k_1sent",
        "lvt5k_1sent",
        "tiny",
    }


@pytest.mark.parametrize("size", SIZES)
def test_size_changes_the_decoder_vocab_only(size):
    run = PRESETS[f"read_again_lstm_copy_{size}k"]
    assert run.vocab_size == 1000 * size
    assert run.title == f"Read-Again LSTM + copy, {size}k"
    assert run.source_vocab_size == PRESETS["gru_69k"].source_vocab_size


def test_rows_differ_in_encoder_and_output():
    assert PRESETS["gru_69k"].model.encoder == OnePassSpec(cell="gru", hidden_size=512)
    assert PRESETS["read_again_gru_15k"].model.encoder == ReadAgainSpec(cell="gru")
    assert PRESETS["read_again_lstm_15k"].model.output == "softmax"
    assert PRESETS["read_again_lstm_copy_15k"].model.output == "copy"
    for option, combine in ((1, "concat"), (2, "global")):
        run = PRESETS[f"two_sentences_option{option}_copy_15k"]
        assert run.model.encoder == HierarchicalSpec(cell="lstm", combine=combine)
        assert run.data.num_sentences == 2


def test_lvt_presets_differ_in_vocabs_only():
    small, large = PRESETS["lvt2k_1sent"], PRESETS["lvt5k_1sent"]
    assert (small.vocab_size, small.model.shortlist_size) == (69_000, 2000)
    assert (large.vocab_size, large.model.shortlist_size) == (200_000, 5000)
    assert replace(small.model, shortlist_size=5000) == large.model
    assert small.train == large.train
    assert small.model.decoder.cell == small.model.encoder.cell == "gru"


def test_abs_has_the_sizes_of_its_paper():
    run = PRESETS["abs_69k"]
    assert (run.model.embedding_size, run.model.hidden_size) == (200, 400)
    assert run.model.context_words == 5
    assert run.model.encoder == AttentiveBagSpec(smoothing=2)
    assert run.vocab_size == 69_000


def test_ras_presets_differ_in_the_cell_only():
    elman, lstm = PRESETS["ras_elman"], PRESETS["ras_lstm"]
    assert (elman.model.cell, elman.vocab_size) == ("elman", 69_000)
    changed = replace(elman, title=lstm.title, model=replace(elman.model, cell="lstm"))
    assert changed == lstm


def test_abs_plus_differs_from_abs_in_decoding_only():
    run, plus = PRESETS["abs_69k"], PRESETS["abs_plus_69k"]
    assert (plus.model, plus.train, plus.data) == (run.model, run.train, run.data)
    assert plus.decode.unigram_bonus > 0 > plus.decode.reordering_bonus
    assert run.decode.unigram_bonus == run.decode.reordering_bonus == 0


def test_baselines_have_the_limit_of_duc():
    assert BASELINES.keys() == {"prefix", "lead", "topiary"}
    assert BASELINES["prefix"].max_bytes == BASELINES["topiary"].max_bytes == 75


@pytest.mark.parametrize("name", ["news", "papers"])
def test_preset_decodes_as_the_bundled_model(name):
    shipped = load_run(bundled_models()[name] / RUN_FILE).decode
    # A corpus without style tokens has no styles.
    assert PRESETS[name].decode == replace(shipped, style="")
