"""What a preparation is asked to do; the only home of its defaults."""

from dataclasses import dataclass, field

from readagain.corpus.filters import DEFAULT_FILTERS, FilterLimits
from readagain.errors import ConfigError

DEFAULT_MAX_SENTENCES = 5


@dataclass(frozen=True, kw_only=True)
class Share:
    """How much of the training input becomes another split: a number of pairs, or a share."""

    pairs: int = 0
    share: float = 0.0

    def __bool__(self) -> bool:
        return self.pairs > 0 or self.share > 0


@dataclass(frozen=True, kw_only=True)
class PrepareSettings:
    """Everything that decides what a prepared corpus holds, apart from its inputs."""

    max_sentences: int = DEFAULT_MAX_SENTENCES
    filters: tuple[str, ...] = DEFAULT_FILTERS
    limits: FilterLimits = field(default_factory=FilterLimits)
    skip_bad: bool = False
    dev: Share = field(default_factory=Share)
    test: Share = field(default_factory=Share)

    def __post_init__(self) -> None:
        if self.max_sentences < 1:
            raise ConfigError(f"--max-sentences is {self.max_sentences}; expected 1 or more")
        for split, wanted in (("dev", self.dev), ("test", self.test)):
            if wanted.pairs < 0:
                raise ConfigError(f"--{split}-pairs is {wanted.pairs}; expected 0 or more")
            if not 0 <= wanted.share < 1:
                raise ConfigError(f"--{split}-share is {wanted.share:g}; expected 0 to below 1")
            if wanted.pairs and wanted.share:
                raise ConfigError(
                    f"--{split}-pairs and --{split}-share both say how large the {split} split is; "
                    "give one of them"
                )
        if self.dev.share + self.test.share >= 1:
            raise ConfigError("--dev-share and --test-share leave nothing to train on")
