"""Settings of a run as frozen dataclasses (specs) with their defaults.

The string below a field is its help text.
"""

from dataclasses import dataclass, field
from typing import Annotated, Literal

from readagain.config.fields import Range

Size = Annotated[int, Range(1)]
Count = Annotated[int, Range(0)]
Share = Annotated[float, Range(0.0, 1.0)]
Dropout = Annotated[float, Range(0.0, 0.9)]
Positive = Annotated[float, Range(0.0, exclusive=True)]
NonNegative = Annotated[float, Range(0.0)]
Weight = Annotated[float, Range(-100.0, 100.0)]

Cell = Literal["gru", "lstm"]


@dataclass(frozen=True, kw_only=True)
class OnePassSpec:
    """Encoder that reads one sequence once; with a GRU, the baseline of the paper."""

    cell: Cell = "gru"
    hidden_size: Size = 512
    bidirectional: bool = False
    """Run in both directions; states are then twice as wide."""


@dataclass(frozen=True, kw_only=True)
class ReadAgainSpec:
    """Read-Again encoder: two passes, the second conditioned on the first (section 3.1)."""

    cell: Cell = "lstm"
    hidden_size: Size = 512
    importance: Literal["vector", "scalar", "none"] = "vector"
    """GRU only: a weight per state dimension (vector), per word (scalar), or no weights (none)."""
    importance_activation: Literal["tanh", "sigmoid"] = "tanh"
    """GRU only: tanh as in the paper, or sigmoid, which keeps the weight between 0 and 1."""
    bidirectional: bool = False
    """Run both passes in both directions; states are then twice as wide."""


@dataclass(frozen=True, kw_only=True)
class HierarchicalSpec:
    """Read-Again encoder of several sentences, each encoded separately (section 3.1.3)."""

    cell: Cell = "lstm"
    hidden_size: Size = 512
    combine: Literal["concat", "global"] = "concat"
    """Concatenate the sentence vectors (option 1), or project them into one (option 2)."""
    importance: Literal["vector", "scalar", "none"] = "vector"
    """GRU only: a weight per state dimension (vector), per word (scalar), or no weights (none)."""
    importance_activation: Literal["tanh", "sigmoid"] = "tanh"
    """GRU only: tanh as in the paper, or sigmoid, which keeps the weight between 0 and 1."""
    bidirectional: bool = False
    """Run both passes in both directions; states are then twice as wide."""


EncoderSpec = OnePassSpec | ReadAgainSpec | HierarchicalSpec


@dataclass(frozen=True, kw_only=True)
class AttentionDecoderSpec:
    """Recurrent decoder with additive attention over the source (section 3.2)."""

    cell: Cell = "lstm"
    hidden_size: Size = 512
    attention_size: Size = 512
    """Size of the projections that attention compares."""
    initial_state: Literal["encoder", "zero"] = "encoder"
    """First state: a projection of the encoder's last states, or zeros."""


@dataclass(frozen=True, kw_only=True)
class ModelSpec:
    """Encoder-decoder network with attention."""

    embedding_size: Size = 512
    encoder: EncoderSpec = field(default_factory=ReadAgainSpec)
    decoder: AttentionDecoderSpec = field(default_factory=AttentionDecoderSpec)
    output: Literal["softmax", "copy"] = "copy"
    """softmax: over the vocabulary only; copy: over the vocabulary and the source positions."""
    copied_words: Literal["place", "unknown"] = "place"
    """Copy only: embed a copied OOV word by its encoder state (place), or as UNK (unknown)."""
    shortlist_size: Count = 0
    """Number of output words to score: source words and the most frequent ones; 0 scores all."""
    shortlist_sources: Size = 50
    """Number of texts that share a shortlist in training; in decoding, each text has its own."""
    dropout: Dropout = 0.2


@dataclass(frozen=True, kw_only=True)
class AttentiveBagSpec:
    """Attention-based encoder of ABS (enc3 in section 3.2 of Rush et al. 2015)."""

    smoothing: Count = 2
    """Number of neighbours on either side that a word is averaged with, Q in the paper."""


@dataclass(frozen=True, kw_only=True)
class AbsSpec:
    """ABS: feed-forward language model with an attention-based encoder (Rush et al. 2015)."""

    embedding_size: Size = 200
    """Embedding size of summary words, D in the paper; source words use `hidden_size`."""
    hidden_size: Size = 400
    context_words: Size = 5
    """Number of previous summary words that are input, C in the paper."""
    encoder: AttentiveBagSpec = field(default_factory=AttentiveBagSpec)
    dropout: Dropout = 0.0


@dataclass(frozen=True, kw_only=True)
class RasSpec:
    """RAS: recurrent decoder with a convolutional attention-based encoder (Chopra et al. 2016)."""

    cell: Literal["elman", "lstm"] = "elman"
    embedding_size: Size = 512
    hidden_size: Size = 512
    """Size of a decoder state and of the convolution output."""
    window: Size = 5
    """Width of the convolution in words, q in the paper."""
    num_positions: Size = 100
    """Number of position embeddings; later positions share the last one."""
    dropout: Dropout = 0.0


NetworkSpec = ModelSpec | AbsSpec | RasSpec


@dataclass(frozen=True, kw_only=True)
class DataSpec:
    """Language and truncation of texts and summaries."""

    language: str = "en"
    """Language of texts and summaries, from the corpus; 'und' if unknown."""
    num_sentences: Annotated[int, Range(1, 100)] = 1
    """Number of sentences read, from the start of the text."""
    join_sentences: bool = False
    """Concatenate these sentences into one sequence."""
    max_source_words: Annotated[int, Range(1, 4000)] = 60
    """Maximum words of a sentence, or of the joined sequence; the rest is dropped."""
    max_summary_words: Annotated[int, Range(1, 1000)] = 24
    """Maximum words of a summary in training; the rest is dropped."""


@dataclass(frozen=True, kw_only=True)
class TrainSpec:
    """Settings of training; the defaults are those of the paper (section 4)."""

    optimizer: Literal["sgd", "adamw", "adadelta"] = "sgd"
    learning_rate: Positive = 2.0
    warmup_steps: Count = 0
    """Updates of linear warm-up from zero."""
    schedule: Literal["halving", "cosine", "constant", "plateau"] = "halving"
    """plateau: halve the rate after each validation that lowers the dev loss by less than 0.1%."""
    halving_from_epoch: Count = 5
    """halving: number of epochs at the full rate, before the first halving."""
    halving_every: Size = 1
    """halving: number of epochs at each lower rate, after which the rate is halved again."""
    weight_decay: NonNegative = 0.0
    max_norm: Positive = 10.0
    """Maximum gradient norm; larger gradients are clipped."""
    batch_size: Size = 64
    epochs: Size = 10
    label_smoothing: Dropout = 0.0
    """Probability mass spread over the vocabulary."""
    averaging: Literal["none", "ema"] = "none"
    """Weight averaging for validation and for the saved model."""
    ema_decay: Share = 0.999
    """ema: decay of the exponential moving average."""
    objective: Literal["likelihood", "risk"] = "likelihood"
    """Maximum likelihood of references, or minimum risk (expected ROUGE) of sampled summaries."""
    risk_samples: Annotated[int, Range(2)] = 8
    """risk: number of sampled summaries per text."""
    risk_words: Count = 0
    """risk: in every second update, all samples have this number of words; 0 sets no length."""
    risk_likelihood: Share = 0.2
    """risk: weight of the likelihood in the loss."""
    precision: Literal["float32", "bfloat16"] = "float32"
    seed: Count = 1
    validate_every: Count = 0
    """Updates between validations; 0 validates after each epoch."""
    rouge_pairs: Count = 200
    """Dev examples summarized for ROUGE at each validation; 0 computes the loss only."""
    best_by: Literal["loss", "rouge"] = "loss"
    """Criterion of the best checkpoint: lowest dev loss, or highest mean ROUGE F1."""
    patience: Count = 0
    """Validations without improvement before stopping; 0 never stops early."""
    log_every: Size = 20
    """Updates between log lines."""


@dataclass(frozen=True, kw_only=True)
class DecodeSpec:
    """Settings of the beam search."""

    beam_size: Annotated[int, Range(1, 1000)] = 10
    """Beam size; 1 is greedy search."""
    min_words: Count = 1
    """Minimum number of words."""
    max_words: Annotated[int, Range(1, 1000)] = 24
    """Maximum number of words; punctuation and 's count as words."""
    min_bytes: Count = 0
    """Minimum size in bytes of the normalized words, without spaces."""
    max_bytes: Count = 0
    """Maximum size of the printed text in bytes of UTF-8, cut at a word; 0 sets no limit."""
    style: str = ""
    """Style of the summary, one of the styles of the model, such as faithful or loose."""
    length_penalty: NonNegative = 0.0
    """Exponent of the length that divides a score: 0 sums log-probabilities, 1 averages them."""
    word_reward: NonNegative = 0.0
    """Added to the score of a finished summary for each of its words."""
    check_penalty: NonNegative = 0.0
    """Subtracted from the score for each warning about the summary; unused for tokenized text."""
    no_repeat_ngram: Count = 0
    """Size of n-grams that may not repeat; a word may not follow itself either; 0 allows both."""
    names_from_source: bool = False
    """Do not generate names that the text lacks, except acronyms; unused for tokenized text."""
    diversity: NonNegative = 0.0
    """Penalty per rank among expansions of a hypothesis; larger values diversify summaries."""
    consensus: NonNegative = 0.0
    """Temperature of MBR reranking; 0 disables it and selects the most probable summary."""
    consensus_by: Literal["f1", "recall"] = "f1"
    """Utility of MBR reranking; recall suits summaries that fill a limit."""
    unigram_bonus: Weight = 0.0
    """Added to the score for each word of the source, as in ABS+."""
    bigram_bonus: Weight = 0.0
    """Added for each bigram of the source."""
    trigram_bonus: Weight = 0.0
    """Added for each trigram of the source."""
    reordering_bonus: Weight = 0.0
    """Added if a word is earlier in the source than the previous summary word; < 0 keeps order."""


@dataclass(frozen=True, kw_only=True)
class RunSpec:
    """Complete settings of a run: network, vocabularies, training and decoding."""

    title: str
    paper: str
    """Citation of the system that this run reproduces."""
    source_vocab_size: Annotated[int, Range(5)] = 69_000
    """Size of the encoder vocabulary, including the four special tokens."""
    vocab_size: Annotated[int, Range(5)] = 15_000
    """Size of the decoder vocabulary, including the four special tokens."""
    model: NetworkSpec = field(default_factory=ModelSpec)
    data: DataSpec = field(default_factory=DataSpec)
    train: TrainSpec = field(default_factory=TrainSpec)
    decode: DecodeSpec = field(default_factory=DecodeSpec)


@dataclass(frozen=True, kw_only=True)
class PrefixSpec:
    """Baseline: the first bytes of a text."""

    title: str
    paper: str
    max_bytes: Size = 75
    """Number of bytes of UTF-8."""


@dataclass(frozen=True, kw_only=True)
class LeadSpec:
    """Baseline: the first sentence of a text."""

    title: str
    paper: str


@dataclass(frozen=True, kw_only=True)
class TopiarySpec:
    """TOPIARY: topic words and a trimmed sentence."""

    title: str
    paper: str
    max_bytes: Size = 75
    """Maximum size in bytes of UTF-8."""


BaselineSpec = PrefixSpec | LeadSpec | TopiarySpec

KINDS: dict[str, type] = {
    "encoder_decoder": ModelSpec,
    "abs": AbsSpec,
    "ras": RasSpec,
    "one_pass": OnePassSpec,
    "read_again": ReadAgainSpec,
    "hierarchical": HierarchicalSpec,
    "attention": AttentionDecoderSpec,
    "attentive_bag": AttentiveBagSpec,
}
"""Names of the variants in files and on the command line: `kind = "read_again"`."""

# Section 4: plain SGD with rate 2, halved every epoch after the fifth, gradients clipped at 10.
PAPER = TrainSpec()

# Not from the paper; learns in fewer epochs.
MODERN = TrainSpec(
    optimizer="adamw",
    learning_rate=1e-3,
    warmup_steps=500,
    schedule="cosine",
    weight_decay=0.01,
    max_norm=1.0,
    batch_size=512,
    epochs=8,
    averaging="ema",
    precision="bfloat16",
)

RECIPES = {"paper": PAPER, "modern": MODERN}
"""Training settings by name; `--set train=modern` selects one."""
