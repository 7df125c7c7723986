"""The models that a server has loaded, and what requests ask of them."""

from collections.abc import Sequence
from dataclasses import dataclass

from readagain.config.options import SummarizeOptions
from readagain.engine.summarizer import Summarizer
from readagain.serve.refusals import InvalidError
from readagain.serve.schema import ModelFacts, SummarizeRequest, SummaryResult
from readagain.serve.settings import ServeSettings


@dataclass(frozen=True)
class BatchKey:
    """What some texts have in common: the model, and what it is asked for."""

    model: str
    options: tuple[tuple[str, object], ...]


class LoadedModels:
    """Models by the name that requests use; the first is the default.

    Args:
        summarizers: what was loaded, by name.
    """

    def __init__(self, summarizers: dict[str, Summarizer]) -> None:
        self._summarizers = summarizers

    @classmethod
    def load(cls, settings: ServeSettings) -> "LoadedModels":
        """Load every model that the settings name.

        Raises:
            ArtifactError: saying which cannot be used, and why.
        """
        return cls(
            {
                name: Summarizer.load(model, threads=settings.threads)
                for name, model in zip(settings.model_names, settings.models, strict=True)
            }
        )

    def wish(self, request: SummarizeRequest) -> BatchKey:
        """Say what a request asks for, in a form that can be compared.

        Raises:
            InvalidError: for a model that is not loaded.
        """
        name = next(iter(self._summarizers)) if request.model is None else request.model
        if name not in self._summarizers:
            raise InvalidError(
                f"no model {name[:100]!r}; loaded here: {', '.join(self._summarizers)}"
            )
        return BatchKey(name, tuple(request.options().items()))

    def summarize(self, wish: BatchKey, texts: Sequence[str]) -> list[SummaryResult]:
        """Write the headlines of some texts."""
        options = SummarizeOptions(**dict(wish.options))  # type: ignore[typeddict-item]
        summaries = self._summarizers[wish.model].summarize(list(texts), **options)
        return [SummaryResult.of(*both) for both in zip(texts, summaries, strict=True)]

    def facts(self) -> list[ModelFacts]:
        """Describe the models, the default first."""
        return [
            ModelFacts(
                name=name,
                title=summarizer.run.title,
                is_default=place == 0,
                beam=summarizer.run.decode.beam_size,
                min_words=summarizer.run.decode.min_words,
                max_words=summarizer.run.decode.max_words,
                max_bytes=summarizer.run.decode.max_bytes or None,
            )
            for place, (name, summarizer) in enumerate(self._summarizers.items())
        ]
