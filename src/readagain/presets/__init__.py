"""One file per row of the tables, and the table of contents: PRESETS."""

from readagain.config.schema import RunSpec
from readagain.presets import (
    bundled,
    gru_attention,
    read_again_gru,
    read_again_gru_copy,
    read_again_lstm,
    read_again_lstm_copy,
    tiny,
    two_sentences,
)

PRESETS: dict[str, RunSpec] = {
    **gru_attention.RUNS,
    **read_again_gru.RUNS,
    **read_again_lstm.RUNS,
    **read_again_gru_copy.RUNS,
    **read_again_lstm_copy.RUNS,
    **two_sentences.RUNS,
    "tiny": tiny.RUN,
    **bundled.RUNS,
}
