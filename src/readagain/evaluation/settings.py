"""How each protocol has a model search, where not as the model's own settings say."""

from dataclasses import asdict, dataclass, replace
from typing import Any

from readagain.config.schema import DecodeSpec
from readagain.errors import ConfigError


@dataclass(frozen=True, kw_only=True)
class DecodeSettings:
    """What differs from the model's own settings; None leaves them as they are."""

    beam: int | None = None
    min_words: int | None = None
    max_words: int | None = None

    @property
    def is_empty(self) -> bool:
        """Say whether nothing differs."""
        return self == NOTHING_ASKED

    def over(self, other: "DecodeSettings") -> "DecodeSettings":
        """Return these settings, and the other ones where these say nothing.

        A maximum that was asked for lowers a minimum that was not.
        """
        given = {name: value for name, value in asdict(self).items() if value is not None}
        both = replace(other, **given)
        if self.max_words is not None and self.min_words is None and both.min_words is not None:
            both = replace(both, min_words=min(both.min_words, self.max_words))
        if both.min_words and both.max_words and both.min_words > both.max_words:
            raise ConfigError(
                f"--min-words is {both.min_words} and --max-words is {both.max_words}; "
                "expected the fewest to be at most the most"
            )
        return both

    def resolved(self, decode: DecodeSpec) -> dict[str, Any]:
        """Return every setting of the search, those of the model included."""
        own = DecodeSettings(
            beam=decode.beam_size, min_words=decode.min_words, max_words=decode.max_words
        )
        used = self.over(own)
        return asdict(decode) | {
            "beam_size": used.beam,
            "min_words": used.min_words,
            "max_words": used.max_words,
        }


NOTHING_ASKED = DecodeSettings()

# "We generate summaries with 15 words using beam-size of 10" (Zeng, Luo, Fidler and Urtasun 2016,
# section 4); ROUGE then reads 75 bytes of them, so the length costs nothing.
_DUC = DecodeSettings(beam=10, min_words=15, max_words=15)

PROTOCOL_SETTINGS: dict[str, DecodeSettings] = {
    "gigaword": NOTHING_ASKED,
    "duc2003": _DUC,
    "duc2004": _DUC,
}
