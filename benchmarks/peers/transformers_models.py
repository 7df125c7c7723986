"""T5-small and distilbart-12-6 in transformers, with random weights: seconds per sentence, as JSON.

Run by `benchmarks/decoding.py peers`, in an environment of its own. The sizes are those of the
published models; speed does not ask for their weights.
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


def t5_small() -> transformers.PreTrainedModel:
    """Build T5-small: 6 and 6 layers, 512 wide, 32,128 pieces of words."""
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


def distilbart() -> transformers.PreTrainedModel:
    """Build distilbart-12-6: 12 and 6 layers, 1024 wide, 50,264 pieces of words."""
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


MODELS = {"T5-small": t5_small, "distilbart-12-6": distilbart}


def main() -> None:
    """Time one model."""
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

    def generate(together: int) -> Callable[[], set[int]]:
        source_ids = torch.randint(100, 10_000, (together, options.source_tokens))
        source_valid = torch.ones_like(source_ids)

        def write() -> set[int]:
            with torch.inference_mode():
                written = model.generate(
                    source_ids, attention_mask=source_valid, generation_config=settings
                )
            return {written.shape[1] - 1}  # the first token is the start

        return write

    version = f"transformers {transformers.__version__}, torch {torch.__version__}"
    report(version, options, generate)


if __name__ == "__main__":
    main()
