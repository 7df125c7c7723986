"""OpenNMT-py's copying LSTM, float32, with random weights: seconds per sentence, as JSON.

Run by `benchmarks/decoding.py peers` in a virtual environment. The network is that of OpenNMT-py's
guide to summarization: a bidirectional LSTM, MLP attention and a pointer-generator. The width of
512 and the 15,000 words are those of our model.
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

WIDTH, VOCAB_SIZE = 512, 15_000
NETWORK_OPTIONS = [
    *("-encoder_type", "brnn", "-decoder_type", "rnn", "-layers", "1"),
    *("-hidden_size", str(WIDTH), "-word_vec_size", str(WIDTH)),
    *("-global_attention", "mlp", "-copy_attn", "-bridge"),
    *("-data", "none", "-src_vocab", "none"),  # required options that are not used
]


def build_network(vocabs: dict[str, Any]) -> Any:
    """Build the network with random weights."""
    parser = ArgumentParser()
    opts.train_opts(parser)
    options, _ = parser.parse_known_args(NETWORK_OPTIONS)
    ArgumentParser.update_model_opts(options)
    torch.manual_seed(0)
    return build_base_model(options, vocabs).eval()


def make_batch(vocab: Any, sources: np.ndarray) -> dict[str, Any]:
    """Return a batch of OpenNMT-py from (B, S) words, each a number.

    The batch has the word ids, and for copying a vocabulary of each sentence with the position of
    its words in this vocabulary.
    """
    sentence_vocabs = [
        pyonmttok.build_vocab_from_tokens(map(str, words), special_tokens=[DefaultTokens.UNK])
        for words in sources
    ]
    # One-hot (B, S, size of the largest sentence vocabulary).
    source_map = torch.zeros(*sources.shape, max(map(len, sentence_vocabs)))
    for row, (words, sentence_vocab) in enumerate(zip(sources, sentence_vocabs, strict=True)):
        for position, word in enumerate(words):
            source_map[row, position, sentence_vocab[str(word)]] = 1
    ids = [[vocab[str(word)] for word in words] for words in sources]
    return {
        "src": torch.tensor(ids)[:, :, None],
        "srclen": torch.full((len(ids),), sources.shape[1]),
        "src_map": source_map,
        "src_ex_vocab": sentence_vocabs,
    }


def main() -> None:
    """Time the model and print the result."""
    options = parse_options(argparse.ArgumentParser(description=__doc__.partition("\n")[0]))
    torch.set_num_threads(options.threads)
    special_tokens = [DefaultTokens.UNK, DefaultTokens.PAD, DefaultTokens.BOS, DefaultTokens.EOS]
    vocab = pyonmttok.build_vocab_from_tokens(
        map(str, range(VOCAB_SIZE - len(special_tokens))), special_tokens=special_tokens
    )
    vocab.default_id = vocab[DefaultTokens.UNK]
    vocabs = {"src": vocab, "tgt": vocab, "decoder_start_token": DefaultTokens.BOS}
    translator = Translator(
        build_network(vocabs),
        vocabs,
        beam_size=options.beam,
        min_length=options.summary_tokens,
        max_length=options.summary_tokens,
        copy_attn=True,
        global_scorer=GNMTGlobalScorer(0, 0, "none", "none"),
        report_score=False,
    )
    random = np.random.default_rng(1)

    def prepare(batch_size: int) -> Callable[[], set[int]]:
        # A tenth of the words are out of vocabulary, as for our models.
        shape = (batch_size, options.source_tokens)
        batch = make_batch(vocab, random.integers(0, round(VOCAB_SIZE / 0.9), shape))

        def summarize() -> set[int]:
            results = translator.translate_batch(batch, attn_debug=False)
            return {len(n_best[0]) for n_best in results["predictions"]}

        return summarize

    report(f"OpenNMT-py {onmt.__version__}", options, prepare)


if __name__ == "__main__":
    main()
