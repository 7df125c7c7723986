"""The bundled models `news` and `papers`: networks of the paper, small enough for the wheel."""

from readagain.config.override import override
from readagain.presets.paper import CITATION, READ_AGAIN_LSTM_COPY, TWO_SENTENCES_OPTION_2

# These settings are not from the paper; they were chosen on dev sets (docs/models.md).
_SHARED_SETTINGS = {
    "source_vocab_size": 16_000,
    "vocab_size": 8000,
    "model.embedding_size": 256,
    "model.encoder.bidirectional": True,
    "model.decoder.attention_size": 256,
    "model.dropout": 0.2,
    "train": "modern",
    "train.label_smoothing": 0.1,
    "train.ema_decay": 0.9995,
    "train.rouge_pairs": 300,
    "train.log_every": 100,
    "decode.no_repeat_ngram": 2,
    "decode.length_penalty": 1.0,
}
# Models store the titles below. `news` reads the first two sentences of a text as one sequence,
# `papers` encodes the first five sentences of an abstract separately.
NEWS = override(
    READ_AGAIN_LSTM_COPY,
    _SHARED_SETTINGS
    | {
        "title": "news: headlines of one or two sentences",
        "paper": f"{CITATION}, section 3; sizes are ours",
        "model.encoder.hidden_size": 320,
        "model.decoder.hidden_size": 512,
        "data.num_sentences": 2,
        "data.join_sentences": True,
        "data.max_source_words": 72,
        "data.max_summary_words": 20,
        "train.batch_size": 1024,
        "train.learning_rate": 0.002,
        "train.warmup_steps": 1000,
        "train.epochs": 14,
        "train.validate_every": 4000,
        # As in the bundled model, which also sets a style; styles need a corpus with style tokens.
        "decode.beam_size": 6,
        "decode.min_words": 4,
        "decode.names_from_source": True,
        "decode.check_penalty": 0.3,
    },
)
PAPERS = override(
    TWO_SENTENCES_OPTION_2,
    _SHARED_SETTINGS
    | {
        "title": "papers: titles of abstracts, five sentences read apart",
        "paper": f"{CITATION}, section 3.1.3; sizes are ours",
        "model.encoder.hidden_size": 256,
        "model.decoder.hidden_size": 448,
        "data.num_sentences": 5,
        "data.max_source_words": 48,
        "data.max_summary_words": 24,
        "train.batch_size": 512,
        "train.learning_rate": 0.0015,
        "train.epochs": 10,
        "train.validate_every": 1500,
        "decode.beam_size": 10,
        "decode.consensus": 0.4,
    },
)

RUNS = {"news": NEWS, "papers": PAPERS}
