"""Ours-GRU (C): Read-Again GRU that also copies."""

from readagain.config.override import override
from readagain.presets import read_again_gru
from readagain.presets.sizes import at_sizes

RUN = override(
    read_again_gru.RUN,
    {
        "title": "Read-Again GRU + copy",
        "paper": "Zeng, Luo, Fidler and Urtasun 2016 (arXiv:1611.03382), section 3.2, Tables 1-2",
        "model.output": "copy",
    },
)

RUNS = at_sizes("read_again_gru_copy", RUN, [15])
