"""Read-Again LSTM + copy with a few hundred thousand parameters, for first experiments."""

from readagain.config.override import override
from readagain.presets.paper import CITATION, READ_AGAIN_LSTM_COPY

RUN = override(
    READ_AGAIN_LSTM_COPY,
    {
        "title": "Tiny Read-Again LSTM + copy",
        "paper": f"{CITATION}, section 3; sizes are ours",
        "vocab_size": 2000,
        "source_vocab_size": 4000,
        "model.embedding_size": 32,
        "model.encoder.hidden_size": 64,
        "model.decoder.hidden_size": 64,
        "model.decoder.attention_size": 32,
        "model.dropout": 0.1,
        "train": "modern",
        "train.batch_size": 64,
        "train.precision": "float32",
        # For a few thousand pairs on a CPU: few updates at a high learning rate.
        "train.learning_rate": 3e-3,
        "train.warmup_steps": 50,
        "train.epochs": 12,
    },
)
