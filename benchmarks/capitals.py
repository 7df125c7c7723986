"""Share of headline words with wrong capitals, if a model predicted all words correctly.

The dev headlines of a prepared corpus are lower-cased and truecased again, as in a model: with
the spellings of the text and of the corpus.

    python benchmarks/capitals.py PREPARED [--vocab 15000] [--copy]
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

from readagain.corpus.inputs import Example
from readagain.corpus.shards import PreparedCorpus
from readagain.text.detokenization import SummaryToken, add_surfaces
from readagain.text.document import read_document
from readagain.text.language import Language, find_language
from readagain.text.normalization import normalize, normalize_typography
from readagain.text.tokenizer import token_at, token_spans
from readagain.text.truecasing import Truecaser
from readagain.text.vocab import Vocab

NUM_SENTENCES = 3


def printed_words(
    pair: Example, vocab: Vocab, truecaser: Truecaser, language: Language, *, copies: bool
) -> Iterator[tuple[str, str]]:
    """Yield the reference spelling and the truecased spelling of each word a model can generate."""
    document = read_document(pair.text, max_sentences=NUM_SENTENCES, language=language)
    positions = {word.norm: n for n, word in reversed(list(enumerate(document.words)))}
    plain = normalize_typography(pair.headline, keep_quotes=not language.has_english_rules)
    spans = token_spans(plain, language)
    norms = [normalize(token_at(plain, *span, language)) for span in spans]
    tokens = [
        SummaryToken(norm, None if norm in vocab and not copies else positions.get(norm))
        for norm in norms
    ]
    printed = add_surfaces(tokens, document, truecaser=truecaser, language=language)
    for (start, end), token in zip(spans, printed, strict=True):
        reference = pair.headline[start:end]
        is_known = token.norm in vocab or token.norm in positions
        is_same_word = token.surface.lower() == reference.lower()
        if is_known and is_same_word and any(map(str.isalpha, reference)):
            yield reference, token.surface


def main() -> None:
    """Print the number of words and the share with a wrong capital."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("prepared", type=Path)
    parser.add_argument("--vocab", type=int, default=15_000)
    parser.add_argument("--copy", action="store_true", help="copy the words that the text has")
    options = parser.parse_args()
    corpus = PreparedCorpus.open(options.prepared)
    vocab = corpus.lexicon.vocab("summary", options.vocab)
    truecaser = corpus.truecaser.restricted_to(vocab)
    language = find_language(corpus.manifest.language)
    words = [
        pair
        for example in corpus.texts("dev")
        for pair in printed_words(example, vocab, truecaser, language, copies=options.copy)
    ]
    wrong = sum(reference != printed for reference, printed in words)
    print(f"{language.name}: {wrong} of {len(words):,} words, {wrong / len(words):.2%}")


if __name__ == "__main__":
    main()
