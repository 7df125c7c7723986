"""Systems of Zeng, Luo, Fidler and Urtasun 2016 (Read-Again).

A comment above each system gives its name in the tables of the paper.
"""

from readagain.config.override import override
from readagain.config.schema import (
    DataSpec,
    HierarchicalSpec,
    ModelSpec,
    OnePassSpec,
    ReadAgainSpec,
    RunSpec,
)
from readagain.presets.sizes import with_vocab_sizes

CITATION = "Zeng, Luo, Fidler and Urtasun 2016 (arXiv:1611.03382)"

# GRU (baseline)
GRU = RunSpec(
    title="GRU",
    paper=f"{CITATION}, Table 1",
    model=ModelSpec(encoder=OnePassSpec(cell="gru"), output="softmax"),
)
# Ours-GRU and Ours-LSTM
READ_AGAIN_GRU = RunSpec(
    title="Read-Again GRU",
    paper=f"{CITATION}, section 3.1.1, Table 1",
    model=ModelSpec(encoder=ReadAgainSpec(cell="gru"), output="softmax"),
)
READ_AGAIN_LSTM = RunSpec(
    title="Read-Again LSTM",
    paper=f"{CITATION}, section 3.1.2, Tables 1, 3, 4",
    model=ModelSpec(encoder=ReadAgainSpec(cell="lstm"), output="softmax"),
)
# Ours-GRU (C) and Ours-LSTM (C)
READ_AGAIN_GRU_COPY = override(
    READ_AGAIN_GRU,
    {
        "title": "Read-Again GRU + copy",
        "paper": f"{CITATION}, section 3.2, Tables 1-2",
        "model.output": "copy",
    },
)
READ_AGAIN_LSTM_COPY = override(
    READ_AGAIN_LSTM,
    {
        "title": "Read-Again LSTM + copy",
        "paper": f"{CITATION}, section 3.2, Tables 1-4",
        "model.output": "copy",
    },
)
# Ours-Opt-1 (C) and Ours-Opt-2 (C). The paper does not say which cell they use; the equations of
# section 3.1.3 have the form of the LSTM's second pass.
TWO_SENTENCES_OPTION_1 = RunSpec(
    title="Read-Again, two sentences, option 1 + copy",
    paper=f"{CITATION}, section 3.1.3, Table 1",
    model=ModelSpec(encoder=HierarchicalSpec(cell="lstm", combine="concat"), output="copy"),
    data=DataSpec(num_sentences=2),
)
TWO_SENTENCES_OPTION_2 = override(
    TWO_SENTENCES_OPTION_1,
    {
        "title": "Read-Again, two sentences, option 2 + copy",
        "paper": f"{CITATION}, section 3.1.3, Tables 1-2",
        "model.encoder.combine": "global",
    },
)

RUNS = {
    **with_vocab_sizes("gru", GRU, [15, 69]),
    **with_vocab_sizes("read_again_gru", READ_AGAIN_GRU, [15, 69]),
    **with_vocab_sizes("read_again_lstm", READ_AGAIN_LSTM, [2, 5, 15, 30, 69]),
    **with_vocab_sizes("read_again_gru_copy", READ_AGAIN_GRU_COPY, [15]),
    **with_vocab_sizes("read_again_lstm_copy", READ_AGAIN_LSTM_COPY, [2, 5, 15, 30, 69]),
    **with_vocab_sizes("two_sentences_option1_copy", TWO_SENTENCES_OPTION_1, [15]),
    **with_vocab_sizes("two_sentences_option2_copy", TWO_SENTENCES_OPTION_2, [15]),
}
