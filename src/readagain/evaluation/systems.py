"""Systems that can be evaluated: baselines and trained models, by name."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Protocol, assert_never

from readagain.classic.link_grammar import LinkParser
from readagain.classic.topiary import TopiaryHeadline, Topics, topiary_headline
from readagain.config.options import SummarizeOptions, decode_overrides, override_decode
from readagain.config.schema import LeadSpec, PrefixSpec, TopiarySpec
from readagain.errors import ArgumentError, ArtifactError, pluralize
from readagain.evaluation.network import (
    BENCHMARK_SETTINGS,
    BENCHMARK_STYLES,
    PROTOCOL_SETTINGS,
    NetworkSystem,
)
from readagain.evaluation.summaries import SystemSummary, on_one_line
from readagain.model_dir import WEIGHTS_FILE, ModelDir
from readagain.presets import BASELINES
from readagain.processors import num_threads
from readagain.rouge.options import UNICODE_PROTOCOL, find_protocol
from readagain.search.model import StepModel
from readagain.storage.bundled import DEFAULT_MODEL, find_model
from readagain.text.detokenization import write_copied
from readagain.text.document import read_document, read_tokenized
from readagain.text.language import ENGLISH, Language, find_language
from readagain.text.vocab import SPECIAL_TOKENS


class System(Protocol):
    """A system that generates summaries."""

    @property
    def name(self) -> str:
        """Name of the system, as given by the user."""
        ...

    def describe(self) -> dict[str, Any]:
        """Return the settings of the system for the report."""
        ...

    def summarize(self, texts: Sequence[str], *, is_tokenized: bool) -> Iterator[SystemSummary]:
        """Yield the summary of each text, in order."""
        ...


def find_system(model: str) -> Path | None:
    """Return the folder of a bundled model or a model directory, or None for a baseline.

    Raises:
        ArtifactError: if there is no such model.
    """
    if model in BASELINES:
        return None
    try:
        return find_model(model)
    except ArtifactError as error:
        raise ArtifactError(f"{error}; baselines: {', '.join(BASELINES)}") from error


def load_system(
    model: str,
    protocol: str,
    *,
    decoding: SummarizeOptions | None = None,
    threads: int | None = None,
    precision: str | None = None,
    language: str = "en",
    load_weights: Callable[[ModelDir], StepModel[Any]] | None = None,
) -> System:
    """Load a system with the decoding settings of a protocol.

    Args:
        model: `prefix`, `lead`, `topiary`, the name of a bundled model, or a model directory.
        protocol: name of the protocol.
        decoding: decoding options that override the settings of the protocol.
        threads: number of threads of a network, or of parsers of TOPIARY; by default the number of
            processors.
        precision: precision of the ONNX graphs; by default the first precision of the model.
        language: language of the texts, for baselines; a trained model stores its language.
        load_weights: function that loads a network from a directory that has weights but no ONNX
            graphs, such as the output of training. None if such directories are not supported.

    Raises:
        ArtifactError: if the model does not exist or cannot be used.
        ConfigError: for settings that the system does not support.
        MissingExtraError: if the parser of TOPIARY is not installed.
    """
    find_protocol(protocol)
    decoding = decoding or {}
    overrides = decode_overrides(decoding)
    path = find_system(model)
    if path is None:
        options = {**decoding, "threads": threads, "precision": precision}
        options = {name: value for name, value in options.items() if value is not None}
        return _load_baseline(model, protocol, options, find_language(language))
    model_dir = ModelDir.open(path)
    # Resolve and check the settings before the slow loading of the graphs.
    decode, styles = model_dir.run.decode, None
    has_styles = set(BENCHMARK_STYLES.values()) <= model_dir.source_vocab.styles.keys()
    # The protocol `unicode` is for users' own data, so it keeps the settings of the model.
    if has_styles and protocol != UNICODE_PROTOCOL and "style" not in overrides:
        decode, styles = override_decode(decode, BENCHMARK_SETTINGS), BENCHMARK_STYLES
    decode = override_decode(decode, PROTOCOL_SETTINGS[protocol])
    decode = override_decode(decode, overrides)
    # Imported here because it imports ONNX Runtime, which baselines do not need.
    from readagain.engine.summarizer import Summarizer

    threads = num_threads(threads)
    has_only_weights = not model_dir.precisions and model_dir.has(WEIGHTS_FILE)
    if load_weights and has_only_weights and precision is None:
        vocabs = (model_dir.source_vocab, model_dir.vocab)
        step_model, precision = load_weights(model_dir), "float32"
        summarizer = Summarizer(model_dir.run, *vocabs, step_model, truecaser=model_dir.truecaser)
    else:
        summarizer = Summarizer.load(path, threads=threads, precision=precision)  # type: ignore[arg-type]
    summarizer = summarizer.with_decode(**asdict(decode))
    return NetworkSystem(model, model_dir, summarizer, precision, threads, styles)


_BASELINE_OPTIONS: dict[type, tuple[str, ...]] = {
    PrefixSpec: (),
    LeadSpec: ("max_words",),
    TopiarySpec: ("threads",),
}
"""Options that a baseline supports, by type of its spec."""


def _load_baseline(
    model: str, protocol: str, options: dict[str, Any], language: Language
) -> System:
    spec = BASELINES[model]
    unsupported = [name for name in options if name not in _BASELINE_OPTIONS[type(spec)]]
    if unsupported:
        names = ", ".join(f"{{{name}}}" for name in unsupported)
        raise ArgumentError(f"{{0}}: the baseline has no such option; remove {names}", model)
    match spec:
        case PrefixSpec():
            has_byte_limit = find_protocol(protocol).options.max_bytes is not None
            return Prefix(max_bytes=spec.max_bytes, may_cut_words=has_byte_limit)
        case LeadSpec():
            return Lead(max_words=options.get("max_words"), language=language)
        case TopiarySpec():
            vocab = ModelDir.open(find_model(DEFAULT_MODEL)).source_vocab
            return TopiarySystem(
                Topics(vocab.words[len(SPECIAL_TOKENS) :]),
                max_bytes=spec.max_bytes,
                num_parsers=num_threads(options.get("threads")),
            )
        case _:
            assert_never(spec)


@dataclass(frozen=True)
class Prefix:
    """Baseline that takes the first bytes of a text.

    `may_cut_words` is whether to cut inside a word, as protocols with a byte limit do.
    """

    max_bytes: int
    may_cut_words: bool
    name: str = "prefix"

    def describe(self) -> dict[str, Any]:
        """Return a description of the part that is taken from a text."""
        cut = "" if self.may_cut_words else ", cut between words"
        return {"takes": f"the first {pluralize(self.max_bytes, 'byte')}{cut}"}

    def summarize(self, texts: Sequence[str], *, is_tokenized: bool) -> Iterator[SystemSummary]:
        """Yield the first bytes of each text."""
        for text in map(on_one_line, texts):
            prefix = text.encode()[: self.max_bytes].decode(errors="ignore")
            cuts_word = text[len(prefix) : len(prefix) + 1] not in ("", " ")
            if cuts_word and not self.may_cut_words:
                prefix = prefix.rpartition(" ")[0]
            yield SystemSummary.copied(prefix.rstrip(), is_tokenized=is_tokenized)


@dataclass(frozen=True)
class Lead:
    """Baseline that takes the first sentence of a text, or its first words.

    Args:
        max_words: number of words to take instead of a sentence; punctuation marks and `'s` count
            as words.
        language: language of the texts.
    """

    max_words: int | None = None
    language: Language = ENGLISH
    name: str = "lead"

    def describe(self) -> dict[str, Any]:
        """Return a description of the part that is taken from a text."""
        if self.max_words is None:
            return {"takes": "the first sentence"}
        return {"takes": f"the first {pluralize(self.max_words, 'word')}"}

    def summarize(self, texts: Sequence[str], *, is_tokenized: bool) -> Iterator[SystemSummary]:
        """Yield the lead of each text; in a tokenized text every line is a sentence."""
        for text in texts:
            if not is_tokenized:
                max_sentences = 1 if self.max_words is None else None
                document = read_document(text, max_sentences=max_sentences, language=self.language)
                positions = range(len(document.words))[: self.max_words]
                lead = write_copied(document, self.language, positions=positions)
            elif self.max_words is None:
                lead = text.strip().partition("\n")[0]
            else:
                lead = " ".join(text.split()[: self.max_words])
            yield SystemSummary.copied(
                on_one_line(lead), is_tokenized=is_tokenized, language=self.language
            )


class TopiarySystem:
    """Baseline TOPIARY: topic words and a trimmed sentence.

    Each parser runs in its own subprocess. A pool with one thread for each parser uses all of them
    in parallel.

    Raises:
        MissingExtraError: if the parser is not installed.
    """

    name = "topiary"

    def __init__(self, topics: Topics, *, max_bytes: int, num_parsers: int) -> None:
        self._topics = topics
        self._max_bytes = max_bytes
        self._parsers: list[LinkParser] = [LinkParser() for _ in range(num_parsers)]
        self._num_unparsed = 0

    def describe(self) -> dict[str, Any]:
        """Return the settings, and the number of sentences without a parse in the last data set."""
        return {
            "takes": "topic words and a clause of the first sentence, "
            f"{pluralize(self._max_bytes, 'byte')}",
            "parser": "Link Grammar",
            "threads": len(self._parsers),
            "without_tree": self._num_unparsed,
        }

    def summarize(self, texts: Sequence[str], *, is_tokenized: bool) -> Iterator[SystemSummary]:
        """Yield the summary of each text, in order."""
        self._num_unparsed = 0
        idle_parsers: SimpleQueue[LinkParser] = SimpleQueue()
        for parser in self._parsers:
            idle_parsers.put(parser)

        def make_headline(text: str) -> TopiaryHeadline:
            parser = idle_parsers.get()
            try:
                document = read_tokenized(text) if is_tokenized else read_document(text)
                return topiary_headline(document, parser, self._topics, max_bytes=self._max_bytes)
            finally:
                idle_parsers.put(parser)

        pool = ThreadPoolExecutor(len(self._parsers))
        try:
            for headline in pool.map(make_headline, texts):
                self._num_unparsed += not headline.is_parsed
                text = on_one_line(headline.text)
                yield SystemSummary.copied(text, is_tokenized=is_tokenized)
        finally:
            pool.shutdown(cancel_futures=True)
            for parser in self._parsers:
                parser.close()
