"""Transformer-base in CTranslate2 int8, with random weights: seconds per sentence, as JSON.

Run by `benchmarks/decoding.py peers` in a virtual environment. The model has 6 + 6 layers of width
512, feed-forward width 2048 and 8 heads, as in Vaswani et al. 2017, and 15,000 words, as our model.
All threads work on one batch, or each thread has its own batch; the faster way counts.
"""

import argparse
import math
import tempfile
from collections.abc import Callable
from functools import partial
from typing import Any

import ctranslate2
import numpy as np
from ctranslate2.specs import TransformerSpec
from timing import parse_options, report

WIDTH, FEED_FORWARD_WIDTH, NUM_LAYERS, NUM_HEADS = 512, 2048, 6, 8
VOCAB_SIZE, MAX_POSITIONS = 15_000, 512


class RandomWeights:
    """Random weights for the layers of a CTranslate2 model."""

    def __init__(self) -> None:
        self._random = np.random.default_rng(0)

    def matrix(self, outputs: int, inputs: int) -> np.ndarray:
        """Return random weights with variance 1 / inputs."""
        return self._random.normal(0, inputs**-0.5, (outputs, inputs)).astype(np.float32)

    def fill_linear(self, layer: Any, inputs: int, outputs: int) -> None:
        """Set the weights of a linear layer."""
        layer.weight = self.matrix(outputs, inputs)
        layer.bias = np.zeros(outputs, dtype=np.float32)

    def fill_norm(self, norm: Any) -> None:
        """Set a layer norm to scale 1 and offset 0."""
        norm.gamma = np.ones(WIDTH, dtype=np.float32)
        norm.beta = np.zeros(WIDTH, dtype=np.float32)

    def fill_attention(self, attention: Any, *factors: int) -> None:
        """Set the linear layers of an attention; their output sizes are `factors` times WIDTH."""
        self.fill_norm(attention.layer_norm)
        for layer, factor in zip(attention.linear, factors, strict=True):
            self.fill_linear(layer, WIDTH, factor * WIDTH)


def build_transformer_base() -> TransformerSpec:
    """Build the model with random int8 weights."""
    weights = RandomWeights()
    spec = TransformerSpec.from_config(NUM_LAYERS, NUM_HEADS, pre_norm=False, no_final_norm=True)
    for stack in (spec.encoder, spec.decoder):
        stack.position_encodings.encodings = weights.matrix(MAX_POSITIONS, WIDTH)
        stack.scale_embeddings = True
        for layer in stack.layer:
            weights.fill_attention(layer.self_attention, 3, 1)
            weights.fill_norm(layer.ffn.layer_norm)
            weights.fill_linear(layer.ffn.linear_0, WIDTH, FEED_FORWARD_WIDTH)
            weights.fill_linear(layer.ffn.linear_1, FEED_FORWARD_WIDTH, WIDTH)
    for layer in spec.decoder.layer:
        weights.fill_attention(layer.attention, 1, 2, 1)
    spec.encoder.embeddings[0].weight = weights.matrix(VOCAB_SIZE, WIDTH)
    spec.decoder.embeddings.weight = weights.matrix(VOCAB_SIZE, WIDTH)
    weights.fill_linear(spec.decoder.projection, WIDTH, VOCAB_SIZE)
    special_tokens = ["<unk>", "<s>", "</s>"]
    words = [*special_tokens, *map(str, range(VOCAB_SIZE - len(special_tokens)))]
    spec.register_source_vocabulary(words)
    spec.register_target_vocabulary(words)
    spec.validate()
    spec.optimize(quantization="int8")
    return spec


def main() -> None:
    """Time the model and print the result."""
    options = parse_options(argparse.ArgumentParser(description=__doc__.partition("\n")[0]))
    shared_batch = {"inter_threads": 1, "intra_threads": options.threads}
    separate_batches = {"inter_threads": options.threads, "intra_threads": 1}
    with tempfile.TemporaryDirectory() as folder:
        build_transformer_base().save(folder)
        translators = [
            ctranslate2.Translator(folder, device="cpu", compute_type="int8", **threads)
            for threads in (shared_batch, separate_batches)
        ]
    random = np.random.default_rng(1)

    def prepare(translator: ctranslate2.Translator, batch_size: int) -> Callable[[], set[int]]:
        shape = (batch_size, options.source_tokens)
        sources = random.integers(0, VOCAB_SIZE // 2, shape).astype(str).tolist()

        def summarize() -> set[int]:
            results = translator.translate_batch(
                sources,
                max_batch_size=math.ceil(batch_size / translator.num_translators),
                beam_size=options.beam,
                min_decoding_length=options.summary_tokens,
                max_decoding_length=options.summary_tokens,
            )
            return {len(result.hypotheses[0]) for result in results}

        return summarize

    variants = (partial(prepare, translator) for translator in translators)
    report(f"CTranslate2 {ctranslate2.__version__}", options, *variants)


if __name__ == "__main__":
    main()
