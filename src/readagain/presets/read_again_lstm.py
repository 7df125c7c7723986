"""Ours-LSTM: every gate of the second reading sees the first."""

from readagain.config.schema import ModelSpec, ReadAgainSpec, RunSpec
from readagain.presets.sizes import at_sizes

RUN = RunSpec(
    title="Read-Again LSTM",
    paper="Zeng, Luo, Fidler and Urtasun 2016 (arXiv:1611.03382), section 3.1.2, Tables 1, 3, 4",
    model=ModelSpec(
        encoder=ReadAgainSpec(cell="lstm"),
        output="softmax",
    ),
)

RUNS = at_sizes("read_again_lstm", RUN, [2, 5, 15, 30, 69])
