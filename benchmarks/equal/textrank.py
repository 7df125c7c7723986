"""TextRank of sumy: the most central sentence of each text.

Run by `benchmarks/equal_data.py` in an environment with sumy. It reads texts as JSON, each a list
of sentences of words, and prints the index of the chosen sentence of each text and the seconds per
text, also as JSON. Sentences and words are those of readagain, since sumy's own tokenizer needs
data that is downloaded.
"""

import json
import sys
import time

from sumy.models.dom import ObjectDocumentModel, Paragraph, Sentence
from sumy.nlp.stemmers import Stemmer
from sumy.summarizers.text_rank import TextRankSummarizer
from sumy.utils import get_stop_words


class Words:
    """Tokenizer of sentences whose words are separated by spaces."""

    def to_words(self, sentence: str) -> tuple[str, ...]:
        """Return the words with a letter or a digit."""
        return tuple(word for word in sentence.split() if any(c.isalnum() for c in word))


def main() -> None:
    """Choose the sentences."""
    summarizer = TextRankSummarizer(Stemmer("english"))
    summarizer.stop_words = get_stop_words("english")
    texts = json.load(sys.stdin)
    tokenizer, chosen = Words(), []
    start = time.perf_counter()
    for text in texts:
        sentences = [Sentence(" ".join(words), tokenizer) for words in text]
        document = ObjectDocumentModel([Paragraph(sentences)])
        best = summarizer(document, 1)
        chosen.append(next((i for i, sentence in enumerate(sentences) if sentence is best[0]), 0))
    seconds = (time.perf_counter() - start) / max(1, len(texts))
    print(json.dumps({"chosen": chosen, "seconds": seconds}))


if __name__ == "__main__":
    main()
