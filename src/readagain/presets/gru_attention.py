"""GRU (baseline): one reading, left to right, and a decoder with attention."""

from readagain.config.schema import ModelSpec, OnePassSpec, RunSpec
from readagain.presets.sizes import at_sizes

RUN = RunSpec(
    title="GRU",
    paper="Zeng, Luo, Fidler and Urtasun 2016 (arXiv:1611.03382), Table 1",
    model=ModelSpec(
        encoder=OnePassSpec(cell="gru"),
        output="softmax",
    ),
)

RUNS = at_sizes("gru", RUN, [15, 69])
