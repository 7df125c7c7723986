"""Share of headline words with wrong capitals, if a model predicted all words correctly.

The dev headlines of a prepared corpus are lower-cased. Then they are truecased again as the output
of a model is, by the spellings in the text and in the corpus.

    python benchmarks/capitals.py PREPARED [--vocab 15000] [--copy]
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

from readagain.corpus.inputs import Example
from readagain.corpus.shards import PreparedCorpus
from readagain.text.detokenization import SummaryToken, add_surfaces
from readagain.text.document import headline_words, read_document
from readagain.text.language import Language, find_language
from readagain.text.truecasing import Truecaser
from readagain.text.vocab import Vocab

NUM_SENTENCES = 3


def truecase_headline(
    example: Example, vocab: Vocab, truecaser: Truecaser, language: Language, *, copy_all: bool
) -> Iterator[tuple[str, str]]:
    """Yield the true and the truecased spelling of each headline word that a model can generate.

    With `copy_all`, words of the vocabulary that are in the text are also copied from the text.
    """
    document = read_document(example.text, max_sentences=NUM_SENTENCES, language=language)
    first_positions: dict[str, int] = {}
    for position, word in enumerate(document.words):
        first_positions.setdefault(word.norm, position)
    words = headline_words(example.headline, language)
    tokens = []
    for word in words:
        is_copied = copy_all or word.norm not in vocab
        position = first_positions.get(word.norm) if is_copied else None
        tokens.append(SummaryToken(word.norm, position))
    truecased = add_surfaces(tokens, document, truecaser=truecaser, language=language)
    for word, token in zip(words, truecased, strict=True):
        spelling = example.headline[word.start : word.end]
        can_be_generated = token.norm in vocab or token.norm in first_positions
        is_same_word = token.surface.lower() == spelling.lower()
        if can_be_generated and is_same_word and any(map(str.isalpha, spelling)):
            yield spelling, token.surface


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
    is_wrong = [
        spelling != truecased
        for example in corpus.texts("dev")
        for spelling, truecased in truecase_headline(
            example, vocab, truecaser, language, copy_all=options.copy
        )
    ]
    num_wrong, num_words = sum(is_wrong), len(is_wrong)
    print(f"{language.name}: {num_wrong} of {num_words:,} words, {num_wrong / num_words:.2%}")


if __name__ == "__main__":
    main()
