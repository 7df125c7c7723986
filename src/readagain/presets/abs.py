"""ABS and ABS+ (baselines): a feed-forward language model with an attention-based encoder."""

from readagain.config.override import override
from readagain.config.schema import AbsSpec, AttentiveBagSpec, RunSpec, TrainSpec
from readagain.presets.sizes import with_vocab_sizes

ABS = RunSpec(
    title="ABS",
    paper="Rush, Chopra and Weston 2015 (arXiv:1509.00685), sections 3 and 5",
    # D = 200, H = 400, C = 5 and Q = 2 as in the paper.
    model=AbsSpec(
        embedding_size=200,
        hidden_size=400,
        context_words=5,
        encoder=AttentiveBagSpec(smoothing=2),
    ),
    # The paper uses plain SGD with a learning rate of 0.05; a batch is 64 summary words with their
    # contexts. Here a batch is 64 summaries, about ten times as many words, so the rate is ten
    # times as high. The paper halves the rate whenever the dev loss stops improving, and
    # renormalizes embeddings after each epoch. Here the rate is halved in each epoch after the
    # fifth, and embeddings are not renormalized.
    train=TrainSpec(learning_rate=0.5, batch_size=64, epochs=15),
)
ABS_PLUS = override(
    ABS,
    {
        "title": "ABS+",
        "paper": "Rush, Chopra and Weston 2015 (arXiv:1509.00685), section 5",
        # The paper tunes these weights on DUC 2003 and does not report them. The best values depend
        # on the trained model, so these are only initial values; `readagain reproduce` tunes them.
        "decode.unigram_bonus": 1.0,
        "decode.bigram_bonus": 0.5,
        "decode.trigram_bonus": 0.5,
        "decode.reordering_bonus": -0.5,
    },
)

RUNS = with_vocab_sizes("abs", ABS, [69]) | with_vocab_sizes("abs_plus", ABS_PLUS, [69])
