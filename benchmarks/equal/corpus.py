"""Data of the systems that are compared: training pairs as text, and headlines as scored text.

All systems read the same words: those of the first sentence, at most 60 of them, normalized as for
our network, with the same vocabularies. The headlines of all systems are detokenized in the same
way.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from readagain.config.override import override
from readagain.config.schema import RunSpec
from readagain.corpus.readers.find import CorpusReadOptions
from readagain.corpus.shards import PreparedCorpus
from readagain.engine.detokenizer import Detokenizer
from readagain.engine.source import SourceReader, SourceText
from readagain.evaluation.dataset import read_dataset
from readagain.experiments.catalog import EXPERIMENTS
from readagain.experiments.corpora import open_subset
from readagain.experiments.settings import experiment_run
from readagain.search.decoding import decode_sources
from readagain.search.model import StepModel
from readagain.text.detokenization import SummaryToken
from readagain.text.vocab import SPECIAL_TOKENS, Vocab
from readagain.training.vocabs import Vocabs, build_vocabs

EXPERIMENT = "read_again_lstm_copy_15k"
# Special tokens of OpenNMT-py, in the order of its ids.
OPENNMT_SPECIAL_TOKENS = ("<unk>", "<blank>", "<s>", "</s>")
_FEATURE_MARK = "￨"  # separates the features of a word in OpenNMT-py


class EqualData:
    """Pairs, vocabularies and settings of our network with the recipe `converged`.

    Args:
        folder: the prepared corpus.
        work: folder for the corpus without the selection split.
    """

    def __init__(self, folder: Path, work: Path) -> None:
        self.folder = folder
        work.mkdir(parents=True, exist_ok=True)
        # The dev split of this corpus is the selection split.
        self.corpus: PreparedCorpus = open_subset(
            PreparedCorpus.open(folder),
            work / f"{folder.resolve().name}-selection",
            min_sentences=1,
            has_selection_split=True,
        )
        run = experiment_run(
            EXPERIMENTS[EXPERIMENT],
            scale="paper",
            recipe="converged",
            seed=1,
            train_pairs=self.corpus.manifest.splits["train"]["pairs"],
        )
        self.vocabs: Vocabs = build_vocabs(run, self.corpus.lexicon)
        self.run: RunSpec = self.vocabs.apply_sizes(run)
        self.reader = SourceReader(self.run, self.vocabs.source, self.vocabs.summary)
        self._detokenizer = Detokenizer(self.vocabs.summary)

    def pairs(self, split: str) -> Iterator[tuple[str, str]]:
        """Yield the words that a network reads of each text, and those of its headline."""
        lexicon, data = self.corpus.lexicon, self.run.data
        pairs = self.corpus.split(split)
        for index in range(len(pairs)):
            sentences, summary = pairs[index]
            yield (
                lexicon.decode(sentences[0][: data.max_source_words]),
                lexicon.decode(summary[: data.max_summary_words]),
            )

    def dev_texts(self) -> list[str]:
        """Return the raw texts of the dev split, which is scored."""
        return [row.text for row in read_dataset(self.folder, CorpusReadOptions()).rows]

    def dev_sources(self) -> list[SourceText]:
        """Return the texts of the dev split as the input of a network."""
        return [self.reader.read(text, tokenized=False) for text in self.dev_texts()]

    def write_text(self, out: Path) -> None:
        """Write the files that OpenNMT-py reads: pairs, dev sources and vocabularies."""
        out.mkdir(parents=True, exist_ok=True)
        for split, name in (("train", "train"), ("dev", "selection")):
            with (
                (out / f"{name}.source").open("w", encoding="utf-8", newline="\n") as sources,
                (out / f"{name}.summary").open("w", encoding="utf-8", newline="\n") as summaries,
            ):
                for source, summary in self.pairs(split):
                    if source and summary:
                        sources.write(_plain(source) + "\n")
                        summaries.write(_plain(summary) + "\n")
        for name, vocab in (("source", self.vocabs.source), ("summary", self.vocabs.summary)):
            _write_lines(out / f"{name}.vocab", _opennmt_words(vocab))
        lines = [
            _plain(" ".join(word.norm for word in source.read_words))
            for source in self.dev_sources()
        ]
        _write_lines(out / "dev.source", lines)

    def detokenize(self, source: SourceText, words: Sequence[str]) -> str:
        """Return normalized words as printed text, see `find_copies`."""
        norms = [_plain(word.norm) for word in source.read_words]
        positions = [position for sequence in source.sequences for position in sequence]
        tokens = []
        for word, index in zip(words, find_copies(words, norms), strict=True):
            if index is None:
                tokens.append(SummaryToken(word, None, tuple(positions)))
            else:
                copy = source.document.words[positions[index]]
                tokens.append(SummaryToken(copy.norm, positions[index], source=copy))
        return self._detokenizer.detokenize(tokens, source, case="sentence")[0]

    def summarize(
        self,
        model: StepModel[Any],
        sources: Sequence[SourceText],
        *,
        batch_size: int,
        num_words: int | None = None,
    ) -> list[str]:
        """Return the headline of each text by our beam search.

        Args:
            model: a network with our vocabularies.
            sources: the texts.
            batch_size: number of texts that are searched together.
            num_words: fixed number of words of a headline; None for the limits of our network.
        """
        decode = self.run.decode
        if num_words is not None:
            limits = {"decode.min_words": num_words, "decode.max_words": num_words}
            decode = override(self.run, limits).decode
        order = [index for index, source in enumerate(sources) if not source.is_empty]
        if batch_size > 1:
            order.sort(key=lambda index: sources[index].max_length)
        summaries = [""] * len(sources)
        for start in range(0, len(order), batch_size):
            rows = order[start : start + batch_size]
            batch = [sources[index] for index in rows]
            n_best = decode_sources(model, self.reader.batch(batch), decode)
            for index, source, hypotheses in zip(rows, batch, n_best, strict=True):
                if hypotheses:
                    tokens = self._detokenizer.tokens(hypotheses[0], source)
                    text, _ = self._detokenizer.detokenize(tokens, source, case="sentence")
                    summaries[index] = text
        return summaries


def find_copies(words: Sequence[str], source: Sequence[str]) -> list[int | None]:
    """Return for each summary word the index of an equal source word, or None.

    OpenNMT-py does not report positions. A word that follows a copied word is taken from the next
    position if possible, otherwise from the first.

    >>> find_copies(["a", "b", "c"], ["b", "x", "a", "b"])
    [2, 3, None]
    """
    indices: list[int | None] = []
    for word in words:
        following = indices[-1] + 1 if indices and indices[-1] is not None else len(source)
        if following < len(source) and source[following] == word:
            indices.append(following)
        else:
            indices.append(source.index(word) if word in source else None)
    return indices


def _plain(words: str) -> str:
    """Replace the character that separates features in OpenNMT-py."""
    return words.replace(_FEATURE_MARK, "|")


def _opennmt_words(vocab: Vocab) -> list[str]:
    """Return the words of a vocabulary with the special tokens of OpenNMT-py."""
    words = map(_plain, vocab.words[len(SPECIAL_TOKENS) :])
    return list(dict.fromkeys([*OPENNMT_SPECIAL_TOKENS, *words]))


def _write_lines(path: Path, lines: Sequence[str]) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(f"{line}\n" for line in lines)
