"""Ours-LSTM (C): Read-Again LSTM that also copies."""

from readagain.config.override import override
from readagain.presets import read_again_lstm
from readagain.presets.sizes import at_sizes

RUN = override(
    read_again_lstm.RUN,
    {
        "title": "Read-Again LSTM + copy",
        "paper": "Zeng, Luo, Fidler and Urtasun 2016 (arXiv:1611.03382), section 3.2, Tables 1-4",
        "model.output": "copy",
    },
)

RUNS = at_sizes("read_again_lstm_copy", RUN, [2, 5, 15, 30, 69])
