"""RAS-Elman: a convolutional attentive encoder, and an Elman network that writes."""

from readagain.config.schema import RasSpec, RunSpec, TrainSpec

RUN = RunSpec(
    title="RAS-Elman",
    paper="Chopra, Auli and Rush 2016 (NAACL), section 3",
    vocab_size=69_000,
    model=RasSpec(cell="elman", embedding_size=512, hidden_size=512, window=5),
    # Plain SGD whose rate falls when a dev set stops improving: here with each epoch after the
    # fifth. The rate is ours, between 0.5 and 2, of which 2 learned faster in a narrow network.
    train=TrainSpec(learning_rate=1.0, batch_size=32, epochs=15),
)

RUNS = {"ras_elman": RUN}
