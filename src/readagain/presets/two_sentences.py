"""Ours-Opt-1 (C) and Ours-Opt-2 (C): two sentences, each read twice, and copying."""

from readagain.config.override import override
from readagain.config.schema import DataSpec, HierarchicalSpec, ModelSpec, RunSpec
from readagain.presets.sizes import at_sizes

# The tables do not say which cell; the LSTM's second reading is the equation of section 3.1.3.
OPTION_1 = RunSpec(
    title="Read-Again, two sentences, option 1 + copy",
    paper="Zeng, Luo, Fidler and Urtasun 2016 (arXiv:1611.03382), section 3.1.3, Table 1",
    model=ModelSpec(
        encoder=HierarchicalSpec(cell="lstm", combine="concat"),
        output="copy",
    ),
    data=DataSpec(num_sentences=2),
)
OPTION_2 = override(
    OPTION_1,
    {
        "title": "Read-Again, two sentences, option 2 + copy",
        "paper": "Zeng, Luo, Fidler and Urtasun 2016 (arXiv:1611.03382), section 3.1.3, Tables 1-2",
        "model.encoder.combine": "global",
    },
)

RUNS = at_sizes("two_sentences_option1_copy", OPTION_1, [15]) | at_sizes(
    "two_sentences_option2_copy", OPTION_2, [15]
)
