"""big-words-lvt2k-1sent and big-words-lvt5k-1sent (baselines): GRU with large-vocabulary trick.

The trick is to compute the softmax over a shortlist of words instead of the whole vocabulary.
"""

from readagain.config.override import override
from readagain.config.schema import (
    AttentionDecoderSpec,
    DecodeSpec,
    ModelSpec,
    OnePassSpec,
    RunSpec,
    TrainSpec,
)

_PAPER = "Nallapati, Zhou, dos Santos, Gulcehre and Xiang 2016 (CoNLL), sections 2.1 and 4.1"

LVT_2K = RunSpec(
    title="big-words-lvt2k-1sent",
    paper=_PAPER,
    source_vocab_size=119_505,
    vocab_size=69_000,
    model=ModelSpec(
        # The paper initializes embeddings with word2vec vectors of the same corpus; here they are
        # random, as in all presets.
        embedding_size=200,
        # The paper gives a hidden size of 400. It is taken as the size of each direction, as in
        # Bahdanau et al. 2015, whose model the paper uses.
        encoder=OnePassSpec(cell="gru", hidden_size=400, bidirectional=True),
        decoder=AttentionDecoderSpec(cell="gru", hidden_size=400, attention_size=400),
        output="softmax",
        shortlist_size=2000,
        shortlist_sources=50,  # the paper has one shortlist per batch of 50
        dropout=0.0,
    ),
    # With the learning rate of the paper, 0.001, Adadelta hardly learns (docs/presets.md). So the
    # rate is 1, as in Zeiler 2012. The paper gives no validation interval, patience or clipping.
    train=TrainSpec(
        optimizer="adadelta",
        learning_rate=1.0,
        schedule="constant",
        batch_size=50,
        epochs=20,
        patience=3,
    ),
    decode=DecodeSpec(beam_size=5, max_words=30),
)
LVT_5K = override(
    LVT_2K,
    {
        "title": "big-words-lvt5k-1sent",
        "source_vocab_size": 400_000,
        "vocab_size": 200_000,
        "model.shortlist_size": 5000,
    },
)

RUNS = {"lvt2k_1sent": LVT_2K, "lvt5k_1sent": LVT_5K}
