"""T5-small and distilbart-12-6 in transformers, with random weights: seconds per sentence, as JSON.

Run by `benchmarks/decoding.py peers` in a virtual environment. The sizes are those of the published
models. The weights are random, since they do not affect the speed.
"""

import argparse
from collections.abc import Callable

import torch
import transformers
from timing import parse_options, report
from transformers import (
    BartConfig,
    BartForConditionalGeneration,
    GenerationConfig,
    T5Config,
    T5ForConditionalGeneration,
)


def build_t5_small() -> transformers.PreTrainedModel:
    """Build T5-small: 6 + 6 layers of width 512, 32,128 subwords."""
    config = T5Config(
        vocab_size=32_128,
        d_model=512,
        d_kv=64,
        d_ff=2048,
        num_layers=6,
        num_heads=8,
        decoder_start_token_id=0,
    )
    return T5ForConditionalGeneration(config)


def build_distilbart() -> transformers.PreTrainedModel:
    """Build distilbart-12-6: 12 + 6 layers of width 1024, 50,264 subwords."""
    config = BartConfig(
        vocab_size=50_264,
        d_model=1024,
        encoder_layers=12,
        decoder_layers=6,
        encoder_ffn_dim=4096,
        decoder_ffn_dim=4096,
        encoder_attention_heads=16,
        decoder_attention_heads=16,
        decoder_start_token_id=2,
    )
    return BartForConditionalGeneration(config)


MODELS = {"T5-small": build_t5_small, "distilbart-12-6": build_distilbart}


def main() -> None:
    """Time a model and print the result."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--model", choices=MODELS, required=True)
    options = parse_options(parser)
    torch.set_num_threads(options.threads)
    torch.manual_seed(0)
    model = MODELS[options.model]().eval()
    settings = GenerationConfig(
        num_beams=options.beam,
        min_new_tokens=options.summary_tokens,
        max_new_tokens=options.summary_tokens,
        pad_token_id=model.config.pad_token_id,
        eos_token_id=model.config.eos_token_id,
        decoder_start_token_id=model.config.decoder_start_token_id,
    )

    def prepare(batch_size: int) -> Callable[[], set[int]]:
        source_ids = torch.randint(100, 10_000, (batch_size, options.source_tokens))
        source_valid = torch.ones_like(source_ids)

        def summarize() -> set[int]:
            with torch.inference_mode():
                output_ids = model.generate(
                    source_ids, attention_mask=source_valid, generation_config=settings
                )
            return {output_ids.shape[1] - 1}  # without the start token

        return summarize

    version = f"transformers {transformers.__version__}, torch {torch.__version__}"
    report(version, options, prepare)


if __name__ == "__main__":
    main()
