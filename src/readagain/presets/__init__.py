"""One file per row of the tables; PRESETS is the table of contents, BASELINES of rows unlearnt."""

from readagain.config.schema import BaselineSpec, RunSpec
from readagain.presets import (
    abs,
    abs_plus,
    bundled,
    gru_attention,
    lvt,
    prefix,
    ras_elman,
    ras_lstm,
    read_again_gru,
    read_again_gru_copy,
    read_again_lstm,
    read_again_lstm_copy,
    tiny,
    topiary,
    two_sentences,
)

PRESETS: dict[str, RunSpec] = {
    **abs.RUNS,
    **abs_plus.RUNS,
    **ras_elman.RUNS,
    **ras_lstm.RUNS,
    **gru_attention.RUNS,
    **read_again_gru.RUNS,
    **read_again_lstm.RUNS,
    **read_again_gru_copy.RUNS,
    **read_again_lstm_copy.RUNS,
    **two_sentences.RUNS,
    **lvt.RUNS,
    "tiny": tiny.RUN,
    **bundled.RUNS,
}

BASELINES: dict[str, BaselineSpec] = {
    "prefix": prefix.PREFIX,
    "lead": prefix.LEAD,
    "topiary": topiary.SPEC,
}
