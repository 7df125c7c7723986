"""Loaded models of a server."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from readagain.config.options import SummarizeOptions, decode_overrides
from readagain.config.schema import DecodeSpec
from readagain.engine.summarizer import Summarizer
from readagain.serve.errors import ApiError
from readagain.serve.schemas import ModelInfo, SummarizeRequest, SummaryResult
from readagain.serve.settings import ServeSettings

CHARS_PER_COST = 8_000
"""Number of characters that take about as long to read as a short text takes to summarize."""


@dataclass(frozen=True)
class BatchKey:
    """Model and options; texts with equal keys can be in one batch."""

    model: str
    options: tuple[tuple[str, object], ...]


class LoadedModels:
    """Summarizers by name; the first is the default."""

    def __init__(self, summarizers: dict[str, Summarizer]) -> None:
        self._summarizers = summarizers

    @classmethod
    def load(cls, settings: ServeSettings) -> "LoadedModels":
        """Load every model of the settings."""
        return cls(
            {
                name: Summarizer.load(model, threads=settings.threads)
                for name, model in zip(settings.model_names, settings.models, strict=True)
            }
        )

    def batch_key(self, request: SummarizeRequest) -> BatchKey:
        """Return the model and options of a request; raise an `ApiError` for an unknown model."""
        name = next(iter(self._summarizers)) if request.model is None else request.model
        if name not in self._summarizers:
            raise ApiError(
                "invalid",
                f"model is {name[:100]!r}; expected one of {', '.join(self._summarizers)}",
            )
        return BatchKey(name, tuple(request.options().items()))

    def estimate_costs(self, key: BatchKey, texts: Sequence[str]) -> list[float]:
        """Return the estimated time for each text; a short one with default options has about 1."""
        decode = self._summarizers[key.model].run.decode
        overrides = decode_overrides(dict(key.options))
        factor = _search_cost(replace(decode, **overrides)) / _search_cost(decode)
        return [max(1.0, factor) + len(text) / CHARS_PER_COST for text in texts]

    def summarize(self, key: BatchKey, texts: Sequence[str]) -> list[SummaryResult]:
        """Summarize a batch of texts."""
        options = SummarizeOptions(**dict(key.options))  # type: ignore[typeddict-item]
        summaries = self._summarizers[key.model].summarize(list(texts), **options)
        return [
            SummaryResult.of(text, summary) for text, summary in zip(texts, summaries, strict=True)
        ]

    def describe(self) -> list[ModelInfo]:
        """Return the names and default options of the models, the default model first."""
        return [
            ModelInfo(
                name=name,
                title=summarizer.run.title,
                language=summarizer.language.code,
                language_name=summarizer.language.name,
                is_default=index == 0,
                beam=summarizer.run.decode.beam_size,
                min_words=summarizer.run.decode.min_words,
                max_words=summarizer.run.decode.max_words,
                max_bytes=summarizer.run.decode.max_bytes or None,
            )
            for index, (name, summarizer) in enumerate(self._summarizers.items())
        ]


def _search_cost(decode: DecodeSpec) -> float:
    """Return the estimated number of hypotheses that a beam search extends."""
    # Most headlines end long before their limit. A word has at least one byte.
    min_words = max(decode.min_words, min(decode.min_bytes, decode.max_words))
    return decode.beam_size * max(min_words, decode.max_words / 2)
