"""Summarization of one text, a list or a stream with a trained model."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sized
from dataclasses import asdict
from math import isnan
from pathlib import Path
from typing import Any, Unpack, overload

from readagain.config.options import SummarizeOptions, resolve_decode, with_defaults
from readagain.config.override import override
from readagain.config.schema import DecodeSpec, RunSpec
from readagain.engine.batch_summarizer import BatchSummarizer, CallOptions
from readagain.engine.confidence import ConfidenceModel, features_and_checks
from readagain.engine.onnx_model import OnnxStepModel
from readagain.engine.sessions import read_graph
from readagain.engine.source import SourceText
from readagain.engine.summary import Summary
from readagain.engine.target_prefix import read_prefix
from readagain.errors import ArgumentError, ArtifactError, ConfigError, quoted
from readagain.model_dir import (
    CONFIDENCE_FILE,
    PRECISIONS,
    WEIGHTS_FILE,
    ModelDir,
    Precision,
    graph_names,
)
from readagain.processors import num_threads
from readagain.search.batching import bucketed_batches
from readagain.search.model import StepModel
from readagain.storage.bundled import DEFAULT_MODEL, bundled_models, find_model
from readagain.text.language import Language
from readagain.text.truecasing import Truecaser
from readagain.text.vocab import Vocab

MAX_TEXTS = 16
"""Maximum batch size. Larger batches exceed the CPU cache and are not faster
(docs/decoding-speed.md)."""
WORDS_PER_TEXT = 64
"""A batch has at most `WORDS_PER_TEXT * MAX_TEXTS` words, so fewer texts if they are longer."""
WINDOW = 16 * MAX_TEXTS
"""Number of texts of a stream that are sorted by length together."""
WINDOW_CHARS = 4 << 20
"""Number of characters at which a window ends early; they may take 20 bytes each as tokens."""


class Summarizer:
    """Summarizer with a trained model, on the CPU; `load` creates one from a model directory.

    A summarizer keeps no state between calls, so threads may share it. If it was created with
    `load`, it can be pickled, for process pools and clusters: unpickling loads the model again.

    Args:
        run: settings of the model; the options of a call override the decoding settings.
        source_vocab: encoder vocabulary.
        vocab: decoder vocabulary.
        model: exported graphs, or another back end of the search.
        truecaser: capitalization of summary words that do not occur in the text.
        confidence: model that estimates the confidence of summaries; by default they have none.
        max_texts: maximum batch size; a GPU needs larger batches.
    """

    def __new__(cls, run: object, *_: object, **__: object) -> "Summarizer":
        """Refuse the name or path of a model, for which `load` is meant."""
        if isinstance(run, (str, Path)):
            name = quoted(str(run))
            raise ConfigError(f"Summarizer: {name} is a name or path; use Summarizer.load({name})")
        return super().__new__(cls)

    def __init__(
        self,
        run: RunSpec,
        source_vocab: Vocab,
        vocab: Vocab,
        model: StepModel[Any],
        *,
        truecaser: Truecaser | None = None,
        confidence: ConfidenceModel | None = None,
        max_texts: int = MAX_TEXTS,
    ) -> None:
        self.run = run
        # Arguments of `load`, from which unpickling loads the model again.
        self._loaded_from: tuple[str, int | None, Precision] | None = None
        self._model = model
        self._max_texts = max_texts
        self._batch_summarizer = BatchSummarizer(run, source_vocab, vocab, truecaser, confidence)

    @property
    def language(self) -> Language:
        """Language of the model."""
        return self._batch_summarizer.language

    @classmethod
    def load(
        cls,
        model: str | Path = DEFAULT_MODEL,
        *,
        threads: int | None = None,
        precision: Precision | None = None,
    ) -> "Summarizer":
        """Load a bundled model by name, or a model directory by path.

        Args:
            model: `news`, `papers`, or a directory written by `readagain export`.
            threads: number of threads; by default, the number of CPU cores.
            precision: precision of the graphs; int8 by default, if the directory has int8 graphs.

        Raises:
            ArtifactError: if the model is missing, damaged or too new.
            ArgumentError: for an unknown precision, or too many threads.
        """
        model_dir = ModelDir.open(find_model(model))
        if precision is None:
            precision = next(iter(model_dir.precisions), "int8")
        if precision not in PRECISIONS:
            raise ArgumentError(
                "{precision} is {0!r}; expected {1}", precision, " or ".join(PRECISIONS)
            )
        if precision not in model_dir.precisions:
            if model_dir.has(WEIGHTS_FILE):
                advice = f"create them with: readagain export {model_dir.path}"
            else:
                advice = "it has no weights to export either, so use another precision"
            raise ArtifactError(f"{model_dir.path}: no {precision} graphs; {advice}")
        encoder, step = (
            read_graph(model_dir.path / name, model_dir.manifest.files[name])
            for name in graph_names(precision)
        )
        graphs = OnnxStepModel.open(
            encoder,
            step,
            threads=num_threads(threads),
            where=str(model_dir.path),
            vocab_size=len(model_dir.vocab),
        )
        confidence = None
        if model_dir.has(CONFIDENCE_FILE):
            where = str(model_dir.path / CONFIDENCE_FILE)
            confidence = ConfidenceModel.parse(model_dir.confidence, where)
        summarizer = cls(
            model_dir.run,
            model_dir.source_vocab,
            model_dir.vocab,
            graphs,
            truecaser=model_dir.truecaser,
            confidence=confidence,
        )
        is_bundled = str(model) in bundled_models()
        name = str(model) if is_bundled else str(Path(model).resolve())
        summarizer._loaded_from = (name, threads, precision)
        return summarizer

    def __repr__(self) -> str:
        if self._loaded_from is None:
            return f"<Summarizer {self.run.title!r}, {self.language.name}>"
        model, _, precision = self._loaded_from
        return f"<Summarizer {model!r}, {self.language.name}, {precision}>"

    def __reduce__(self) -> tuple[Any, ...]:
        if self._loaded_from is None:
            raise ConfigError(
                "this Summarizer was built from a model in memory and cannot be pickled; create it "
                "with Summarizer.load"
            )
        return _reload, (type(self), self._loaded_from, self.run.decode)

    def with_decode(self, **changes: float | str) -> "Summarizer":
        """Return a summarizer that shares the model and changes settings of its `DecodeSpec`.

        Raises:
            ConfigError: for an unknown setting or an invalid value.
        """
        other = object.__new__(type(self))  # `copy.copy` would load the model again
        other.__dict__.update(self.__dict__)
        other.run = override(self.run, {f"decode.{name}": value for name, value in changes.items()})
        return other

    @overload
    def summarize(self, texts: str, **options: Unpack[SummarizeOptions]) -> Summary: ...  # type: ignore[overload-overlap]
    @overload
    def summarize(  # type: ignore[overload-overlap]
        self, texts: Collection[str], **options: Unpack[SummarizeOptions]
    ) -> list[Summary]: ...
    @overload
    def summarize(
        self, texts: Iterable[str], **options: Unpack[SummarizeOptions]
    ) -> Iterator[Summary]: ...
    def summarize(
        self, texts: str | Iterable[str], **options: Unpack[SummarizeOptions]
    ) -> Summary | list[Summary] | Iterator[Summary]:
        """Summarize a text, a list or column of texts, or a stream of any length.

        A text without a letter or a digit has an empty summary; a text of up to three words is its
        own summary. The summary of a text does not depend on the other texts.

        Args:
            texts: one text, a list, a column of pandas or Arrow, or an iterable without a length,
                such as a generator, which is read only as far as needed.
            options: `max_words`, `min_words`, `max_bytes`, `min_bytes`, `beam`, `n_best`,
                `diversity`, `style`, `explain`, `case`, `tokenized`, `min_confidence`, `fallback`
                and `begin`, all described in `readagain.config.options.SummarizeOptions`.

        Returns:
            A summary for one text, a list for texts with a length, an iterator for other texts.

        Raises:
            ConfigError: for invalid options, a table, or an item that is not a string.
        """
        call_options = self._resolve(options)
        if isinstance(texts, str):
            return next(self._stream([texts], call_options))
        if isinstance(texts, bytes) or not isinstance(texts, Iterable):
            raise _not_a_text("a text", texts)
        if isinstance(texts, Mapping) or hasattr(texts, "columns"):
            raise ConfigError(
                f"texts is of type {type(texts).__name__}; pass one column, such as texts['text']"
            )
        if hasattr(texts, "to_pylist"):  # an Arrow column, which does not have strings as items
            texts = texts.to_pylist()
        summaries = self._stream(texts, call_options)
        return list(summaries) if _has_length(texts) else summaries

    def features(self, text: str, summary: Summary) -> dict[str, float]:
        """Return the features of a summary of `text`, from which its confidence is computed."""
        source = self._batch_summarizer.reader.read(text, tokenized=False)
        return features_and_checks(summary, source, self.language)[0]

    def _resolve(self, options: SummarizeOptions) -> CallOptions:
        """Check the options of a call and fill in the settings of the model.

        Raises:
            ArgumentError: for invalid options.
        """
        decode = resolve_decode(self.run.decode, options)
        options = with_defaults(options)
        styles = self._batch_summarizer.reader.styles
        if decode.style and decode.style not in styles:
            known = f"expected {' or '.join(styles)}" if styles else "this model has no styles"
            raise ArgumentError("{style} is {0}; {1}", quoted(decode.style), known)
        if options["min_confidence"] and self._batch_summarizer.confidence is None:
            raise ArgumentError(
                "{min_confidence} is {0}; this model has no confidence, so leave the option out",
                options["min_confidence"],
            )
        tokenized = options["tokenized"]
        prefix = read_prefix(options["begin"], decode, tokenized=tokenized, language=self.language)
        has_minimum = options["min_words"] or options["min_bytes"]
        return CallOptions(
            values=options,
            decode=decode,
            prefix=prefix,
            copies_short_texts=not (tokenized or prefix or has_minimum),
        )

    def _stream(self, texts: Iterable[str], options: CallOptions) -> Iterator[Summary]:
        """Yield the summaries of texts, which are decoded in batches of similar length."""
        model = self._model

        def summarize(sources: list[SourceText]) -> list[Summary]:
            return self._batch_summarizer.summarize(sources, options, model)

        def summarize_in_thread(sources: list[SourceText]) -> list[Summary]:
            assert isinstance(model, OnnxStepModel)
            return self._batch_summarizer.summarize(sources, options, model.for_parallel_batch())

        return bucketed_batches(
            self._read(texts, options),
            summarize,
            length=lambda source: source.max_length * self._batch_summarizer.reader.num_sequences,
            max_words=WORDS_PER_TEXT * self._max_texts,
            max_items=self._max_texts,
            window=max(WINDOW, self._max_texts),
            size=lambda source: len(source.document.text),
            max_size=WINDOW_CHARS,
            num_threads=model.parallel_batches if isinstance(model, OnnxStepModel) else 1,
            process_in_thread=summarize_in_thread,
        )

    def _read(self, texts: Iterable[str], options: CallOptions) -> Iterator[SourceText]:
        """Yield the texts as model input; raise ConfigError for an item that is not a string."""
        for index, text in enumerate(texts):
            if not isinstance(text, str):
                raise _not_a_text(f"texts[{index}]", text)
            yield self._batch_summarizer.reader.read(text, tokenized=options.values["tokenized"])


def _reload(
    cls: type[Summarizer],
    loaded_from: tuple[str, int | None, Precision],
    decode: DecodeSpec,
) -> Summarizer:
    """Return the summarizer of a pickle: load its model, and set its decoding settings."""
    model, threads, precision = loaded_from
    summarizer = cls.load(model, threads=threads, precision=precision)
    return summarizer.with_decode(**asdict(decode))


def _has_length(texts: Iterable[str]) -> bool:
    """Return whether the number of texts is known.

    A progress bar such as tqdm always has `__len__`, which raises TypeError around a generator.
    """
    if not isinstance(texts, Sized):
        return False
    try:
        len(texts)
    except TypeError:
        return False
    return True


def _not_a_text(where: str, value: object) -> ConfigError:
    """Return the error for a value that is not a string."""
    if isinstance(value, float) and isnan(value):
        return ConfigError(f"{where} is NaN, a missing value; replace it, as with fillna('')")
    type_name = "None" if value is None else f"of type {type(value).__name__}"
    return ConfigError(f"{where} is {type_name}; expected a string")
