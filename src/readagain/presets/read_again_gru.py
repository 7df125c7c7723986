"""Ours-GRU: the second reading passes over what the first found unimportant."""

from readagain.config.schema import ModelSpec, ReadAgainSpec, RunSpec
from readagain.presets.sizes import at_sizes

RUN = RunSpec(
    title="Read-Again GRU",
    paper="Zeng, Luo, Fidler and Urtasun 2016 (arXiv:1611.03382), section 3.1.1, Table 1",
    model=ModelSpec(
        encoder=ReadAgainSpec(cell="gru"),
        output="softmax",
    ),
)

RUNS = at_sizes("read_again_gru", RUN, [15, 69])
