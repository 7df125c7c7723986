"""A trained model as a system that is evaluated."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from difflib import SequenceMatcher
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from readagain.engine.summary import Summary, SummaryPart
from readagain.evaluation.dataset import on_one_line
from readagain.evaluation.gigaword_form import TokenizedText
from readagain.evaluation.words import Written, summary_words
from readagain.model_dir import ModelDir
from readagain.storage.model_manifest import MANIFEST_FILE

if TYPE_CHECKING:
    from readagain.config.options import SummarizeOptions
    from readagain.engine.summarizer import Summarizer


@dataclass(frozen=True)
class NetworkSystem:
    """A model from a folder, on the CPU.

    Args:
        name: what the user called it.
        folder: where it stands.
        summarizer: the same model, loaded.
        precision: of the graphs that were asked for; None for the first there are.
        threads: that the summarizer may use.
    """

    name: str
    folder: ModelDir
    summarizer: "Summarizer"
    precision: str | None
    threads: int

    def describe(self) -> dict[str, Any]:
        """Say which model it is, and how it searches."""
        manifest = self.folder.path / MANIFEST_FILE
        return {
            "title": self.folder.run.title,
            "sha256": sha256(manifest.read_bytes()).hexdigest(),
            "precision": self.precision or self.folder.precisions[0],
            "threads": self.threads,
            "decode": asdict(self.summarizer.run.decode),
        }

    def write(self, texts: Sequence[str], *, is_tokenized: bool) -> Iterator[Written]:
        """Summarize texts, in their order; in Gigaword form what came in it."""
        for [(text, summary)] in self.write_best(texts, is_tokenized=is_tokenized):
            yield _written(text, summary.words, is_tokenized=is_tokenized)

    def write_best(
        self, texts: Sequence[str], *, is_tokenized: bool, n_best: int = 1
    ) -> Iterator[list[tuple[str, Summary]]]:
        """Yield the best summaries of each text, as they are scored and as the model has them."""
        options: SummarizeOptions = {"n_best": n_best, "tokenized": is_tokenized}
        if not is_tokenized:
            for summary in self.summarizer.summarize(iter(texts), **options):
                yield [(on_one_line(each.text), each) for each in _all(summary)]
            return
        read = [TokenizedText(text) for text in texts]
        summaries = self.summarizer.summarize((text.for_model for text in read), **options)
        for text, summary in zip(read, summaries, strict=True):
            yield [(" ".join(text.spell(each.words)), each) for each in _all(summary)]


def _all(summary: Summary) -> list[Summary]:
    return [summary, *summary.alternatives]


def _written(text: str, parts: Sequence[SummaryPart], *, is_tokenized: bool) -> Written:
    """Find the words of a printed summary that the model copied.

    Printing may join words, leave a number out or fill one in, so the words are matched in order.
    """
    words = summary_words(text, is_tokenized=is_tokenized)
    is_copied = [False] * len(words)
    matcher = SequenceMatcher(
        None, [word.form for word in words], [part.form for part in parts], autojunk=False
    )
    for block in matcher.get_matching_blocks():
        for offset in range(block.size):
            is_copied[block.a + offset] = parts[block.b + offset].origin == "copied"
    return Written(text, words, tuple(is_copied))
