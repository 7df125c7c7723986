"""Transformer-base in CTranslate2 int8, with random weights: seconds per sentence, as JSON.

Run by `benchmarks/decoding.py peers`, in an environment of its own. 6 and 6 layers, 512 wide, 2048
in between, 8 heads, as in Vaswani and others 2017; 15,000 words, as many as our model writes.
Threads either work on one batch together or on batches of their own; the faster way counts.
"""

import argparse
import tempfile
from collections.abc import Callable
from functools import partial
from typing import Any

import ctranslate2
import numpy as np
from ctranslate2.specs import TransformerSpec
from timing import parse_options, report

WIDTH, INNER, LAYERS, HEADS, VOCABULARY, POSITIONS = 512, 2048, 6, 8, 15_000, 512


class RandomWeights:
    """Fills the layers of a CTranslate2 model."""

    def __init__(self) -> None:
        self._random = np.random.default_rng(0)

    def matrix(self, outputs: int, inputs: int) -> np.ndarray:
        """Draw weights that keep the size of what they are applied to."""
        return self._random.normal(0, inputs**-0.5, (outputs, inputs)).astype(np.float32)

    def fill_linear(self, layer: Any, inputs: int, outputs: int) -> None:
        """Fill a product with a bias."""
        layer.weight = self.matrix(outputs, inputs)
        layer.bias = np.zeros(outputs, dtype=np.float32)

    def fill_norm(self, norm: Any) -> None:
        """Let a layer norm only normalise."""
        norm.gamma = np.ones(WIDTH, dtype=np.float32)
        norm.beta = np.zeros(WIDTH, dtype=np.float32)

    def fill_attention(self, attention: Any, *products: int) -> None:
        """Fill the products of an attention, each given by how many widths it yields."""
        self.fill_norm(attention.layer_norm)
        for layer, widths in zip(attention.linear, products, strict=True):
            self.fill_linear(layer, WIDTH, widths * WIDTH)


def transformer_base() -> TransformerSpec:
    """Build the model, its weights in int8."""
    weights = RandomWeights()
    spec = TransformerSpec.from_config(LAYERS, HEADS, pre_norm=False, no_final_norm=True)
    for side in (spec.encoder, spec.decoder):
        side.position_encodings.encodings = weights.matrix(POSITIONS, WIDTH)
        side.scale_embeddings = True
        for layer in side.layer:
            weights.fill_attention(layer.self_attention, 3, 1)
            weights.fill_norm(layer.ffn.layer_norm)
            weights.fill_linear(layer.ffn.linear_0, WIDTH, INNER)
            weights.fill_linear(layer.ffn.linear_1, INNER, WIDTH)
    for layer in spec.decoder.layer:
        weights.fill_attention(layer.attention, 1, 2, 1)
    spec.encoder.embeddings[0].weight = weights.matrix(VOCABULARY, WIDTH)
    spec.decoder.embeddings.weight = weights.matrix(VOCABULARY, WIDTH)
    weights.fill_linear(spec.decoder.projection, WIDTH, VOCABULARY)
    reserved = ["<unk>", "<s>", "</s>"]
    words = [*reserved, *map(str, range(VOCABULARY - len(reserved)))]
    spec.register_source_vocabulary(words)
    spec.register_target_vocabulary(words)
    spec.validate()
    spec.optimize(quantization="int8")
    return spec


def main() -> None:
    """Time the model."""
    options = parse_options(argparse.ArgumentParser(description=__doc__.partition("\n")[0]))
    together_on_one = {"inter_threads": 1, "intra_threads": options.threads}
    each_on_its_own = {"inter_threads": options.threads, "intra_threads": 1}
    with tempfile.TemporaryDirectory() as folder:
        transformer_base().save(folder)
        translators = [
            ctranslate2.Translator(folder, device="cpu", compute_type="int8", **threads)
            for threads in (together_on_one, each_on_its_own)
        ]
    random = np.random.default_rng(1)

    def generate(translator: ctranslate2.Translator, together: int) -> Callable[[], set[int]]:
        shape = (together, options.source_tokens)
        sources = random.integers(0, VOCABULARY // 2, shape).astype(str).tolist()

        def write() -> set[int]:
            written = translator.translate_batch(
                sources,
                max_batch_size=-(-together // translator.num_translators),
                beam_size=options.beam,
                min_decoding_length=options.summary_tokens,
                max_decoding_length=options.summary_tokens,
            )
            return {len(result.hypotheses[0]) for result in written}

        return write

    ways = (partial(generate, translator) for translator in translators)
    report(f"CTranslate2 {ctranslate2.__version__}", options, *ways)


if __name__ == "__main__":
    main()
