"""The one builder: specs go in, modules with flat keyword arguments come out."""

from typing import assert_never

from readagain.config.checks import check_run
from readagain.config.schema import (
    AttentionDecoderSpec,
    DecoderSpec,
    EncoderSpec,
    HierarchicalSpec,
    OnePassSpec,
    ReadAgainSpec,
    RunSpec,
)
from readagain.networks.decoders.attention_decoder import AttentionDecoder
from readagain.networks.decoders.previous_words import PreviousWords
from readagain.networks.embedding import WordEmbedding
from readagain.networks.encoders.hierarchical import HierarchicalEncoder
from readagain.networks.encoders.one_pass import OnePassEncoder
from readagain.networks.encoders.read_again import ReadAgainEncoder
from readagain.networks.init import initialise
from readagain.networks.model import Encoder, EncoderDecoder
from readagain.networks.outputs.copy_softmax import CopyScores
from readagain.networks.outputs.softmax import VocabularyOutput


def build_model(run: RunSpec) -> EncoderDecoder:
    """Build the network that `run` describes, freshly initialised; seed torch before.

    Raises:
        ConfigError: naming every setting that cannot be honoured.
    """
    check_run(run)
    spec = run.model
    encoder = build_encoder(
        spec.encoder,
        embedding_size=spec.embedding_size,
        num_sentences=run.data.num_sentences,
        dropout=spec.dropout,
    )
    source_embedding = WordEmbedding(run.source_vocab_size, spec.embedding_size)
    can_copy = spec.output == "copy"
    model = EncoderDecoder(
        source_embedding=source_embedding,
        encoder=encoder,
        previous_words=PreviousWords(
            vocab_size=run.vocab_size,
            embedding_size=spec.embedding_size,
            source_size=encoder.output_size if can_copy and spec.copied_words == "place" else None,
        ),
        decoder=build_decoder(
            spec.decoder,
            embedding_size=spec.embedding_size,
            source_size=encoder.output_size,
            last_size=encoder.last_size,
        ),
        output=VocabularyOutput(hidden_size=spec.decoder.hidden_size, vocab_size=run.vocab_size),
        copy_scores=CopyScores(
            source_size=encoder.output_size, hidden_size=spec.decoder.hidden_size
        )
        if can_copy
        else None,
        dropout=spec.dropout,
    )
    initialise(model, hidden_size=spec.decoder.hidden_size)
    # d is the width of the hidden state nearest to a parameter, where the two differ.
    for part in (model.source_embedding, model.encoder):
        initialise(part, hidden_size=spec.encoder.hidden_size)
    return model


def build_encoder(
    spec: EncoderSpec, *, embedding_size: int, num_sentences: int, dropout: float
) -> Encoder:
    """Build the encoder that `spec` describes."""
    match spec:
        case OnePassSpec():
            return OnePassEncoder(
                cell=spec.cell,
                input_size=embedding_size,
                hidden_size=spec.hidden_size,
                bidirectional=spec.bidirectional,
                dropout=dropout,
            )
        case ReadAgainSpec():
            return ReadAgainEncoder(
                cell=spec.cell,
                input_size=embedding_size,
                hidden_size=spec.hidden_size,
                bidirectional=spec.bidirectional,
                importance=spec.importance,
                activation=spec.importance_activation,
                dropout=dropout,
            )
        case HierarchicalSpec():
            return HierarchicalEncoder(
                cell=spec.cell,
                num_sentences=num_sentences,
                combine=spec.combine,
                input_size=embedding_size,
                hidden_size=spec.hidden_size,
                bidirectional=spec.bidirectional,
                importance=spec.importance,
                activation=spec.importance_activation,
                dropout=dropout,
            )
        case _:
            assert_never(spec)


def build_decoder(
    spec: DecoderSpec, *, embedding_size: int, source_size: int, last_size: int
) -> AttentionDecoder:
    """Build the decoder that `spec` describes."""
    match spec:
        case AttentionDecoderSpec():
            return AttentionDecoder(
                input_size=embedding_size,
                source_size=source_size,
                last_size=last_size,
                hidden_size=spec.hidden_size,
                attention_size=spec.attention_size,
            )
        case _:
            assert_never(spec)
