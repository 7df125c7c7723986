"""Settings of `prepare`, with their defaults."""

from dataclasses import dataclass, field

from readagain.config.fields import check_fields
from readagain.config.schema import Count, Size
from readagain.corpus.filters import DEFAULT_FILTERS, FilterLimits
from readagain.errors import ArgumentError
from readagain.formats.records import OnError
from readagain.text.language import find_language

DEFAULT_MAX_SENTENCES = 5


@dataclass(frozen=True, kw_only=True)
class SplitSize:
    """Approximate size of a dev or test split that is taken from the training input.

    Either `pairs` or `share` is set; with neither, no split is taken.
    """

    pairs: int = 0
    """Number of pairs."""
    share: float = 0.0
    """Share of the training pairs."""
    max_share: float = 1.0
    """Limit of `pairs`, as a share of the training pairs."""

    def __bool__(self) -> bool:
        return self.pairs > 0 or self.share > 0


@dataclass(frozen=True, kw_only=True)
class PrepareSettings:
    """Settings of the preparation of a corpus; `readagain.prepare` describes them."""

    language: str | None = None
    max_sentences: Size = DEFAULT_MAX_SENTENCES
    filters: tuple[str, ...] = DEFAULT_FILTERS
    limits: FilterLimits = field(default_factory=FilterLimits)
    on_error: OnError = "skip"
    dev: SplitSize = field(default_factory=SplitSize)
    test: SplitSize = field(default_factory=SplitSize)
    sample: Count = 0
    seed: int = 1
    min_count: Size = 1

    def __post_init__(self) -> None:
        # `ArgumentError` replaces {name} by the Python keyword or the command-line option.
        check_fields(self)
        if self.language is not None:
            find_language(self.language)
        for split, size in (("dev", self.dev), ("test", self.test)):
            if size.pairs < 0:
                raise ArgumentError(f"{{{split}_pairs}} is {{0}}; expected 0 or more", size.pairs)
            if not 0 <= size.share < 1:
                raise ArgumentError(
                    f"{{{split}_share}} is {{0:g}}; expected at least 0 and below 1", size.share
                )
            if size.pairs and size.share:
                raise ArgumentError(
                    f"{{{split}_pairs}} and {{{split}_share}} both set the size; use one of them"
                )
        if self.dev.share + self.test.share >= 1:
            raise ArgumentError("{dev_share} and {test_share} leave nothing to train on; lower one")
