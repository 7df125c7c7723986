"""OpenNMT-py's copying LSTM, float32, with random weights: seconds per sentence, as JSON.

Run by `benchmarks/decoding.py peers` in a virtual environment. The network is that of its guide to
summarization: a bidirectional LSTM, MLP attention and a pointer-generator, of width 512 with
15,000 words, as ours.
"""

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np
import onmt
import pyonmttok
import torch
from onmt import opts
from onmt.constants import DefaultTokens
from onmt.model_builder import build_base_model
from onmt.translate import GNMTGlobalScorer, Translator
from onmt.utils.parse import ArgumentParser
from timing import parse_options, report

WIDTH, VOCABULARY = 512, 15_000
SETTINGS = [
    *("-encoder_type", "brnn", "-decoder_type", "rnn", "-layers", "1"),
    *("-hidden_size", str(WIDTH), "-word_vec_size", str(WIDTH)),
    *("-global_attention", "mlp", "-copy_attn", "-bridge"),
    *("-data", "none", "-src_vocab", "none"),  # required options that are not used
]


def copying_lstm(vocabs: dict[str, Any]) -> Any:
    """Return the network with random weights."""
    parser = ArgumentParser()
    opts.train_opts(parser)
    settings, _ = parser.parse_known_args(SETTINGS)
    ArgumentParser.update_model_opts(settings)
    torch.manual_seed(0)
    model = build_base_model(settings, vocabs)
    return model.eval()


def as_batch(vocabulary: Any, sources: np.ndarray) -> dict[str, Any]:
    """Return a batch of OpenNMT-py: word ids, and the vocabulary of each sentence."""
    own = [
        pyonmttok.build_vocab_from_tokens(map(str, words), special_tokens=[DefaultTokens.UNK])
        for words in sources
    ]
    places = torch.zeros(*sources.shape, max(map(len, own)))
    for row, (words, known) in enumerate(zip(sources, own, strict=True)):
        for place, word in enumerate(words):
            places[row, place, known[str(word)]] = 1
    ids = [[vocabulary[str(word)] for word in words] for words in sources]
    return {
        "src": torch.tensor(ids)[:, :, None],
        "srclen": torch.full((len(ids),), sources.shape[1]),
        "src_map": places,
        "src_ex_vocab": own,
    }


def main() -> None:
    """Time the model."""
    options = parse_options(argparse.ArgumentParser(description=__doc__.partition("\n")[0]))
    torch.set_num_threads(options.threads)
    reserved = [DefaultTokens.UNK, DefaultTokens.PAD, DefaultTokens.BOS, DefaultTokens.EOS]
    vocabulary = pyonmttok.build_vocab_from_tokens(
        map(str, range(VOCABULARY - len(reserved))), special_tokens=reserved
    )
    vocabulary.default_id = vocabulary[DefaultTokens.UNK]
    vocabs = {"src": vocabulary, "tgt": vocabulary, "decoder_start_token": DefaultTokens.BOS}
    translator = Translator(
        copying_lstm(vocabs),
        vocabs,
        beam_size=options.beam,
        min_length=options.summary_tokens,
        max_length=options.summary_tokens,
        copy_attn=True,
        global_scorer=GNMTGlobalScorer(0, 0, "none", "none"),
        report_score=False,
    )
    random = np.random.default_rng(1)

    def generate(together: int) -> Callable[[], set[int]]:
        # A tenth of the words are out of vocabulary, as for our models.
        shape = (together, options.source_tokens)
        batch = as_batch(vocabulary, random.integers(0, round(VOCABULARY / 0.9), shape))

        def write() -> set[int]:
            written = translator.translate_batch(batch, attn_debug=False)
            return {len(best[0]) for best in written["predictions"]}

        return write

    report(f"OpenNMT-py {onmt.__version__}", options, generate)


if __name__ == "__main__":
    main()
