"""Headlines from texts: load a model once, then summarize one text, many, or a stream."""

from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Unpack, overload

from readagain.config.options import Case, SummarizeOptions, resolve_decode
from readagain.config.override import override
from readagain.config.schema import DecodeSpec, RunSpec
from readagain.engine.beginning import TargetPrefix, read_beginning
from readagain.engine.explaining import SourceImportance, explain, look_at
from readagain.engine.grounding import GroundingConstraint
from readagain.engine.onnx_model import OnnxStepModel
from readagain.engine.printing import Detokenizer, parts
from readagain.engine.sessions import read_graph
from readagain.engine.short_texts import is_too_short, own_words
from readagain.engine.source import SourceReader, SourceText
from readagain.engine.summary import Summary
from readagain.errors import ArgumentError, ArtifactError, ConfigError
from readagain.model_dir import PRECISIONS, WEIGHTS_FILE, ModelDir, Precision, graph_names
from readagain.processors import num_threads
from readagain.search.batching import ParallelBatches, bucketed_batches
from readagain.search.constraints import ByteLengthConstraint, Constraint
from readagain.search.decoding import decode_sources
from readagain.search.hypotheses import Hypothesis
from readagain.search.model import SourceBatch, StepModel
from readagain.storage.bundled import DEFAULT_MODEL, find_model
from readagain.text.truecasing import Truecaser
from readagain.text.vocab import Vocab

# Measured (docs/engine.md): more texts at once no longer gain, and leave the cache.
MAX_TEXTS = 16
WORDS_OF_A_TEXT = 64  # longer texts make batches of fewer
WINDOW = 16 * MAX_TEXTS  # texts of a stream that are sorted by length together


@dataclass(frozen=True, kw_only=True)
class _Request:
    """What one call asks for, resolved."""

    decode: DecodeSpec
    n_best: int
    explain: bool
    case: Case
    tokenized: bool
    beginning: TargetPrefix
    may_be_whole: bool  # a text that is too short to be shortened is its own summary


class Summarizer:
    """Writes headlines with a trained model, on the CPU.

    It keeps nothing between calls, so threads may share one.

    Args:
        run: what the model is, and how it searches unless a call says otherwise.
        source_vocab: the words that the encoder knows.
        vocab: the words that the decoder knows.
        model: the graphs, or another back end of search.
        cases: how its words are written, for those that a text does not show.
        max_texts: how many texts of a stream are searched together; a GPU takes more.
    """

    def __init__(
        self,
        run: RunSpec,
        source_vocab: Vocab,
        vocab: Vocab,
        model: StepModel[Any],
        *,
        cases: Truecaser | None = None,
        max_texts: int = MAX_TEXTS,
    ) -> None:
        self.run = run
        self._model = model
        self._max_texts = max_texts
        self._reader = SourceReader(run, source_vocab, vocab)
        self._printer = Detokenizer(vocab, cases)
        self._grounding = GroundingConstraint(vocab, self._printer.cases)

    @classmethod
    def load(
        cls,
        model: str | Path = DEFAULT_MODEL,
        *,
        threads: int | None = None,
        precision: Precision | None = None,
    ) -> "Summarizer":
        """Load a bundled model by name, or any model folder by path.

        Args:
            model: `news`, `papers`, or a folder that `readagain export` completed.
            threads: how many threads one call may use; all processors unless given.
            precision: which graphs; int8 where the folder has them, unless given.

        Raises:
            ArtifactError: saying what is missing, damaged, foreign or too new.
            ConfigError: for a precision that there is not, or too many threads.
        """
        folder = ModelDir.open(find_model(model))
        if precision is None:
            precision = next(iter(folder.precisions), "int8")
        if precision not in PRECISIONS:
            raise ArgumentError(
                "{precision} is {0!r}; expected {1}", precision, " or ".join(PRECISIONS)
            )
        if precision not in folder.precisions:
            remedy = (
                f"; make them with: readagain export {folder.path}"
                if folder.has(WEIGHTS_FILE)
                else ", nor weights to make them from; leave the precision to the model"
            )
            raise ArtifactError(f"{folder.path}: no {precision} graphs in it{remedy}")
        encoder, step = (
            read_graph(folder.path / name, folder.manifest.files[name])
            for name in graph_names(precision)
        )
        graphs = OnnxStepModel.open(
            encoder, step, threads=num_threads(threads), where=str(folder.path)
        )
        return cls(folder.run, folder.source_vocab, folder.vocab, graphs, cases=folder.cases)

    def searching(self, **changes: float | str) -> "Summarizer":
        """Return a summarizer that shares the model and searches with other settings.

        Args:
            changes: settings of `decode`, by name.

        Raises:
            ConfigError: for a setting that does not exist or cannot be honoured.
        """
        other = copy(self)
        other.run = override(self.run, {f"decode.{name}": each for name, each in changes.items()})
        return other

    @overload
    def summarize(self, texts: str, **options: Unpack[SummarizeOptions]) -> Summary: ...  # type: ignore[overload-overlap]
    @overload
    def summarize(  # type: ignore[overload-overlap]
        self, texts: list[str] | tuple[str, ...], **options: Unpack[SummarizeOptions]
    ) -> list[Summary]: ...
    @overload
    def summarize(
        self, texts: Iterable[str], **options: Unpack[SummarizeOptions]
    ) -> Iterator[Summary]: ...
    def summarize(
        self, texts: str | Iterable[str], **options: Unpack[SummarizeOptions]
    ) -> Summary | list[Summary] | Iterator[Summary]:
        """Summarize a text, a list of texts, or a stream of any length.

        A text without a letter or a digit has an empty summary, and one of a word or three is its
        own. The same text has the same summary whatever stands beside it.

        Args:
            texts: one text, a list, or an iterable that is read as far as needed.
            options: keywords described in `config.options.SummarizeOptions`.

        Returns:
            A summary, a list of them, or an iterator, as the texts came.

        Raises:
            ConfigError: where limits cannot be honoured.
        """
        decode = resolve_decode(self.run.decode, options)
        tokenized = options.get("tokenized", False)
        beginning = read_beginning(options.get("begin"), decode, tokenized=tokenized)
        is_limited = options.get("min_words") or options.get("min_bytes")
        request = _Request(
            decode=decode,
            n_best=options.get("n_best", 1),
            explain=options.get("explain", False),
            case=options.get("case", "sentence"),
            tokenized=tokenized,
            beginning=beginning,
            may_be_whole=not (tokenized or beginning or is_limited),
        )
        if isinstance(texts, bytes) or not isinstance(texts, Iterable):
            raise _no_text(texts)
        if isinstance(texts, str):
            return self._summarize_batch([self._read(texts, request)], request, self._model)[0]
        summaries = self._stream(texts, request)
        return list(summaries) if isinstance(texts, list | tuple) else summaries

    def _stream(self, texts: Iterable[str], request: _Request) -> Iterator[Summary]:
        model = self._model
        parallel: ParallelBatches[SourceText, Summary] | None = None
        if isinstance(model, OnnxStepModel) and model.lanes > 1:
            parallel = ParallelBatches(
                model.lanes,
                lambda sources: self._summarize_batch(sources, request, model.in_lane()),
            )
        return bucketed_batches(
            (self._read(text, request) for text in texts),
            lambda sources: self._summarize_batch(sources, request, model),
            length=lambda source: source.longest * self._reader.num_sequences,
            max_words=WORDS_OF_A_TEXT * self._max_texts,
            max_items=self._max_texts,
            window=max(WINDOW, self._max_texts),
            parallel=parallel,
        )

    def _read(self, text: str, request: _Request) -> SourceText:
        if not isinstance(text, str):
            raise _no_text(text)
        return self._reader.read(text, tokenized=request.tokenized)

    def _summarize_batch(
        self, sources: Sequence[SourceText], request: _Request, model: StepModel[Any]
    ) -> list[Summary]:
        """Search for the summaries of some texts together."""
        readable = [source for source in sources if not source.is_empty]
        if not readable:
            return [_empty(source) for source in sources]
        batch = self._reader.batch(readable)
        decode = request.decode
        beginning = request.beginning
        constraints: list[Constraint] = (
            [self._reader.prefix(readable, beginning)] if beginning else []
        )
        if not request.tokenized:
            constraints.append(self._grounding.rule(readable, names=decode.names_from_source))
        if decode.min_bytes or decode.max_bytes:
            printed = self._printer.printed_bytes(readable, self._reader.num_sequences)
            constraints.append(
                ByteLengthConstraint(
                    printed,
                    minimum=decode.min_bytes,
                    maximum=decode.max_bytes or None,
                    forced=beginning.word_bytes,
                )
            )
        found = decode_sources(
            model,
            batch,
            decode,
            n_best=request.n_best,
            constraints=constraints,
            keep_attention=True,
        )
        if request.may_be_whole:
            self._keep_short(readable, batch, found, decode.max_words)
        looks = self._look_at(batch, model) if request.explain else None
        written = iter(
            self._write(source, hypotheses, row, looks, request)
            for row, (source, hypotheses) in enumerate(zip(readable, found, strict=True))
        )
        return [_empty(source) if source.is_empty else next(written) for source in sources]

    def _keep_short(
        self,
        sources: Sequence[SourceText],
        batch: SourceBatch,
        found: list[list[Hypothesis]],
        max_words: int,
    ) -> None:
        """Put their own words in the place of what was found for texts that are too short."""
        length = batch.source_ids.shape[2]
        for row, source in enumerate(sources):
            if is_too_short(source):
                ext_ids = batch.source_ext_ids[row]
                found[row] = [own_words(source, ext_ids, length=length, max_words=max_words)]

    def _look_at(self, batch: SourceBatch, model: StepModel[Any]) -> SourceImportance:
        if not isinstance(model, OnnxStepModel):
            raise ConfigError("explanations come from exported graphs; use 'readagain export'")
        return look_at(model, self.run.model, batch)

    def _write(
        self,
        source: SourceText,
        hypotheses: Sequence[Hypothesis],
        row: int,
        looks: SourceImportance | None,
        request: _Request,
    ) -> Summary:
        """Print the summaries of one text: the best, with the others as its alternatives."""
        if not hypotheses:
            return _empty(source)
        best, *others = (self._print(source, hypothesis, request) for hypothesis in hypotheses)
        explanation = None
        if looks is not None:
            beginning = request.beginning
            words = self._printer.words(hypotheses[0], source, beginning)[: len(best.words)]
            printed = self._printer.printed_words(words, source, beginning, case=request.case)
            explanation = explain(looks, row, source, hypotheses[0], printed)
        return replace(best, alternatives=tuple(others), explanation=explanation)

    def _print(self, source: SourceText, hypothesis: Hypothesis, request: _Request) -> Summary:
        beginning = request.beginning
        words = self._printer.words(hypothesis, source, beginning)
        text, num_words = self._printer.text(
            words, source, beginning, case=request.case, max_bytes=request.decode.max_bytes
        )
        return Summary(
            text=text,
            score=hypothesis.score,
            words=parts(words[:num_words], hypothesis, source, beginning),
            read_sentences=len(source.document.sentences),
            truncated=source.is_truncated,
        )


def _empty(source: SourceText) -> Summary:
    return Summary(
        text="",
        score=0.0,
        words=(),
        read_sentences=len(source.document.sentences),
        truncated=source.is_truncated,
    )


def _no_text(found: object) -> ConfigError:
    kind = "None" if found is None else f"of type {type(found).__name__}"
    return ConfigError(f"a text is {kind}; expected a string")
