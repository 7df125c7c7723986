"""What a run is: frozen specs, the only home of defaults.

The string under a field is its help text. `config/checks.py` keeps the ranges declared here,
`config/kinds.py` knows how a variant is spelled in files. A new setting is one line here.
"""

from dataclasses import dataclass, field
from typing import Annotated, Literal

from readagain.config.ranges import AtLeast, Between, MoreThan

Size = Annotated[int, AtLeast(1)]
Count = Annotated[int, AtLeast(0)]
Share = Annotated[float, Between(0.0, 1.0)]
Positive = Annotated[float, MoreThan(0.0)]
NonNegative = Annotated[float, AtLeast(0.0)]
Weight = Annotated[float, Between(-100.0, 100.0)]

Cell = Literal["gru", "lstm"]


@dataclass(frozen=True, kw_only=True)
class OnePassSpec:
    """One reading of one sequence; the baseline when the cell is a GRU."""

    cell: Cell = "gru"
    hidden_size: Size = 512
    bidirectional: bool = False
    """Read from both ends; a state is then twice as wide."""


@dataclass(frozen=True, kw_only=True)
class ReadAgainSpec:
    """Two readings of one sequence, the second biased by the first (section 3.1)."""

    cell: Cell = "lstm"
    hidden_size: Size = 512
    importance: Literal["vector", "scalar"] = "vector"
    """GRU only: one weight for each dimension of a word's state, or one for all of them."""
    importance_activation: Literal["tanh", "sigmoid"] = "tanh"
    """GRU only: tanh as printed, or sigmoid, which keeps the weight between 0 and 1."""
    bidirectional: bool = False
    """Do both readings from both ends; a state is then twice as wide."""


@dataclass(frozen=True, kw_only=True)
class HierarchicalSpec:
    """Two readings of several sentences, each read on its own (section 3.1.3)."""

    cell: Cell = "lstm"
    hidden_size: Size = 512
    combine: Literal["concat", "global"] = "concat"
    """Option 1 joins the sentence vectors end to end, option 2 projects them into one."""
    importance: Literal["vector", "scalar"] = "vector"
    """GRU only: one weight for each dimension of a word's state, or one for all of them."""
    importance_activation: Literal["tanh", "sigmoid"] = "tanh"
    """GRU only: tanh as printed, or sigmoid, which keeps the weight between 0 and 1."""
    bidirectional: bool = False
    """Do both readings from both ends; a state is then twice as wide."""


EncoderSpec = OnePassSpec | ReadAgainSpec | HierarchicalSpec


@dataclass(frozen=True, kw_only=True)
class AttentionDecoderSpec:
    """A recurrence that looks back at the source with additive attention (section 3.2)."""

    cell: Cell = "lstm"
    hidden_size: Size = 512
    attention_size: Size = 512
    """Width in which a decoder state and a source state are compared."""


DecoderSpec = AttentionDecoderSpec


@dataclass(frozen=True, kw_only=True)
class ModelSpec:
    """An encoder and a decoder that looks back at it: which parts, and how wide."""

    embedding_size: Size = 512
    encoder: EncoderSpec = field(default_factory=ReadAgainSpec)
    decoder: DecoderSpec = field(default_factory=AttentionDecoderSpec)
    output: Literal["softmax", "copy"] = "copy"
    """Generate from the vocabulary only, or share one softmax with the source positions."""
    copied_words: Literal["place", "unknown"] = "place"
    """Copy only: feed a copied word that the vocabulary lacks as p_i of its place, or as UNK."""
    shortlist_size: Count = 0
    """Words that compete at once: those of the sources, and the most frequent; 0 lets all do."""
    shortlist_sources: Size = 50
    """Sources that share such a list while training; decoding gives each source its own."""
    dropout: Annotated[float, Between(0.0, 0.9)] = 0.2


@dataclass(frozen=True, kw_only=True)
class AttentiveBagSpec:
    """Weigh the source's words by the last words of the summary (ABS, section 3.2, enc3)."""

    smoothing: Count = 2
    """Words on either side that a weighed word is averaged with, Q in the paper."""


@dataclass(frozen=True, kw_only=True)
class AbsSpec:
    """ABS: a feed-forward language model that is shown the source (Rush et al. 2015)."""

    embedding_size: Size = 200
    """Width of a summary word, D in the paper; a source word is as wide as the hidden layer."""
    hidden_size: Size = 400
    context_words: Size = 5
    """Summary words that the next one depends on, C in the paper."""
    encoder: AttentiveBagSpec = field(default_factory=AttentiveBagSpec)
    dropout: Annotated[float, Between(0.0, 0.9)] = 0.0


@dataclass(frozen=True, kw_only=True)
class RasSpec:
    """RAS: a recurrent decoder over a convolutional attentive encoder (Chopra et al. 2016)."""

    cell: Literal["elman", "lstm"] = "elman"
    embedding_size: Size = 512
    hidden_size: Size = 512
    """Width of a decoder state, and of the convolved words that it is compared with."""
    window: Size = 5
    """Words that a convolution sees, q in the paper."""
    num_positions: Size = 100
    """Places of a source with an embedding of their own; words further back share the last."""
    dropout: Annotated[float, Between(0.0, 0.9)] = 0.0


NetworkSpec = ModelSpec | AbsSpec | RasSpec


@dataclass(frozen=True, kw_only=True)
class DataSpec:
    """How much of a text and of its summary the network sees."""

    num_sentences: Size = 1
    """How many sentences of a text are read, from its beginning."""
    join_sentences: bool = False
    """Let a one-sentence encoder read these sentences as one sequence."""
    max_source_words: Size = 60
    """Words read of each sentence, or of the joined sequence; what stands beyond is left out."""
    max_summary_words: Size = 24
    """Words of a summary that are trained on; what stands beyond is left out."""


@dataclass(frozen=True, kw_only=True)
class TrainSpec:
    """How the network is trained; the defaults are the paper's (section 4)."""

    optimizer: Literal["sgd", "adamw", "adadelta"] = "sgd"
    learning_rate: Positive = 2.0
    warmup_steps: Count = 0
    """Updates over which the learning rate rises from zero."""
    schedule: Literal["halving", "cosine", "constant"] = "halving"
    halving_from_epoch: Count = 5
    """Halving: epochs at the full rate, after which each epoch halves it."""
    weight_decay: NonNegative = 0.0
    max_norm: Positive = 10.0
    """Gradients longer than this are shortened to it."""
    batch_size: Size = 64
    epochs: Size = 10
    label_smoothing: Annotated[float, Between(0.0, 0.9)] = 0.0
    """Share of the target's probability that is spread over the vocabulary."""
    averaging: Literal["none", "last_k", "ema"] = "none"
    """Which mean of the weights is validated and kept."""
    average_last: Size = 5
    """last_k: how many of the latest validated weights are averaged."""
    ema_decay: Share = 0.999
    """ema: how much of the running mean each update keeps."""
    objective: Literal["likelihood", "risk"] = "likelihood"
    """Raise the probability of the reference, or the expected reward of what the model writes."""
    risk_samples: Annotated[int, AtLeast(2)] = 8
    """risk: summaries of each text that are drawn and rewarded."""
    risk_words: Count = 0
    """risk: every second update draws exactly so many words, as filled limits ask; 0 never."""
    risk_likelihood: Share = 0.2
    """risk: share of the likelihood in the loss."""
    precision: Literal["float32", "bfloat16"] = "float32"
    seed: Count = 1
    validate_every: Count = 0
    """Updates between validations; 0 validates after each epoch."""
    rouge_pairs: Count = 200
    """Dev pairs that each validation summarizes for ROUGE and for the eye; 0 measures loss only."""
    best_by: Literal["loss", "rouge"] = "loss"
    """Which weights are kept: those of the lowest dev loss, or of the best mean ROUGE F1."""
    patience: Count = 0
    """Validations without improvement before stopping; 0 never stops early."""
    log_every: Size = 20
    """Updates between two lines of the log."""


@dataclass(frozen=True, kw_only=True)
class DecodeSpec:
    """Settings of the beam search."""

    beam_size: Annotated[int, Between(1, 1000)] = 10
    """Beam size; 1 is greedy search."""
    min_words: Count = 1
    """Minimum number of words."""
    max_words: Annotated[int, Between(1, 1000)] = 24
    """Maximum number of words; punctuation and 's count as words."""
    min_bytes: Count = 0
    """Minimum size in bytes of the normalized words, without spaces."""
    max_bytes: Count = 0
    """Maximum size of the printed text in bytes of UTF-8, cut at a word; 0 sets no limit."""
    length_penalty: NonNegative = 0.0
    """Power of the length by which a score is divided: 0 sums log-probabilities, 1 averages."""
    no_repeat_ngram: Count = 0
    """Ban a run of so many words from standing twice, a word from following itself; 0: neither."""
    coverage: NonNegative = 0.0
    """Weight of the penalty on attention that a source word receives beyond 1 in total."""
    limit_copies: bool = False
    """Copy no word more often than it stands in the source; generating it again stays free."""
    names_from_source: bool = False
    """Generate no name that the text lacks, but short forms (US); not for text in Gigaword form."""
    diversity: NonNegative = 0.0
    """Penalty per better word after the same prefix; larger values give more varied summaries."""
    consensus: NonNegative = 0.0
    """Vote on the words of the beam: how evenly its summaries weigh; 0 takes the most probable."""
    consensus_by: Literal["f1", "recall"] = "f1"
    """What a vote holds summaries against each other by; recall where a limit is to be filled."""
    unigram_bonus: Weight = 0.0
    """Added to a score for each word that stands in the source; 'readagain tune' finds it."""
    bigram_bonus: Weight = 0.0
    """Added for each word that stands there behind the word before it."""
    trigram_bonus: Weight = 0.0
    """Added for each word that stands there behind the two words before it."""
    reordering_bonus: Weight = 0.0
    """Added for each word that stands there before the word before it; less than 0 keeps order."""


@dataclass(frozen=True, kw_only=True)
class RunSpec:
    """Everything that decides a run: the network, its words, training and search."""

    title: str
    paper: str
    """The citation of the row this run rebuilds."""
    source_vocab_size: Annotated[int, AtLeast(5)] = 69_000
    """Words the encoder knows, the four reserved ones included."""
    vocab_size: Annotated[int, AtLeast(5)] = 15_000
    """Words the decoder can generate, the four reserved ones included."""
    model: NetworkSpec = field(default_factory=ModelSpec)
    data: DataSpec = field(default_factory=DataSpec)
    train: TrainSpec = field(default_factory=TrainSpec)
    decode: DecodeSpec = field(default_factory=DecodeSpec)
