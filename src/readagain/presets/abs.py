"""ABS (baseline): a feed-forward language model with an attention-based encoder."""

from readagain.config.schema import AbsSpec, AttentiveBagSpec, RunSpec, TrainSpec
from readagain.presets.sizes import at_sizes

RUN = RunSpec(
    title="ABS",
    paper="Rush, Chopra and Weston 2015 (arXiv:1509.00685), sections 3 and 5",
    # D = 200, H = 400, C = 5, Q = 2: the paper's.
    model=AbsSpec(
        embedding_size=200,
        hidden_size=400,
        context_words=5,
        encoder=AttentiveBagSpec(smoothing=2),
    ),
    # Plain SGD as printed, at 0.05 for batches of 64 words and what stands before them. Our batches
    # are 64 summaries, some ten times as many words, so the rate is ten times as high. The paper
    # halves it whenever a dev set stops improving, and scales embeddings back after each epoch;
    # here it is halved with each epoch after the fifth, and embeddings are left alone.
    train=TrainSpec(learning_rate=0.5, batch_size=64, epochs=15),
)

RUNS = at_sizes("abs", RUN, [69])
