"""RAS-Elman and RAS-LSTM (baselines): a recurrent decoder with a convolutional encoder."""

from readagain.config.override import override
from readagain.config.schema import RasSpec, RunSpec, TrainSpec

RAS_ELMAN = RunSpec(
    title="RAS-Elman",
    paper="Chopra, Auli and Rush 2016 (NAACL), section 3",
    vocab_size=69_000,
    model=RasSpec(cell="elman", embedding_size=512, hidden_size=512, window=5),
    # The paper uses plain SGD and lowers the learning rate when the dev loss stops improving. Here
    # the rate is halved in each epoch after the fifth. The initial rate is not from the paper.
    train=TrainSpec(learning_rate=1.0, batch_size=32, epochs=15),
)

RUNS = {
    "ras_elman": RAS_ELMAN,
    "ras_lstm": override(RAS_ELMAN, {"title": "RAS-LSTM", "model.cell": "lstm"}),
}
