"""How each protocol has a model search, where not as the model's own settings say."""

from dataclasses import asdict, dataclass
from typing import Any

from readagain.config.schema import DecodeSpec
from readagain.errors import ConfigError


@dataclass(frozen=True, kw_only=True)
class DecodeSettings:
    """What differs from the model's own settings; None leaves them as they are."""

    beam: int | None = None
    min_words: int | None = None
    max_words: int | None = None
    min_bytes: int | None = None
    max_bytes: int | None = None

    @property
    def is_empty(self) -> bool:
        """Say whether nothing differs."""
        return self == NOTHING_ASKED

    def over(self, other: "DecodeSettings") -> "DecodeSettings":
        """Return these settings, and the other ones where these say nothing.

        A maximum that was asked for lowers a minimum that was not; 0 is no maximum.
        """
        given = {name: value for name, value in asdict(self).items() if value is not None}
        both = asdict(other) | given
        for unit in ("words", "bytes"):
            fewest, most = both[f"min_{unit}"] or 0, both[f"max_{unit}"]
            if not most or fewest <= most:
                continue
            if f"min_{unit}" in given or f"max_{unit}" not in given:
                raise ConfigError(
                    f"--min-{unit} is {fewest} and --max-{unit} is {most}; "
                    "expected the fewest to be at most the most"
                )
            both[f"min_{unit}"] = most
        return DecodeSettings(**both)

    def resolved(self, decode: DecodeSpec) -> dict[str, Any]:
        """Return every setting of the search, those of the model included."""
        own = DecodeSettings(
            beam=decode.beam_size,
            min_words=decode.min_words,
            max_words=decode.max_words,
            min_bytes=decode.min_bytes,
            max_bytes=decode.max_bytes,
        )
        used = self.over(own)
        return asdict(decode) | {
            "beam_size": used.beam,
            "min_words": used.min_words,
            "max_words": used.max_words,
            "min_bytes": used.min_bytes,
            "max_bytes": used.max_bytes,
        }


NOTHING_ASKED = DecodeSettings()

# "We generate summaries with 15 words using beam-size of 10" (Zeng, Luo, Fidler and Urtasun 2016,
# section 4), of which ROUGE then reads 75 bytes.
_PAPERS_DUC = DecodeSettings(beam=10, min_words=15, max_words=15, min_bytes=0, max_bytes=0)
# A search that knows the 75 bytes fills them better than one whose words are cut off behind them.
# Spaces do not count for the minimum: with those of a dozen words it is about 72.
_DUC = DecodeSettings(beam=10, min_words=1, max_words=20, min_bytes=61, max_bytes=75)

PROTOCOL_SETTINGS: dict[str, DecodeSettings] = {
    "gigaword": NOTHING_ASKED,
    "duc2003": _DUC,
    "duc2004": _DUC,
}

PAPER_SETTINGS: dict[str, DecodeSettings] = {
    "gigaword": NOTHING_ASKED,
    "duc2003": _PAPERS_DUC,
    "duc2004": _PAPERS_DUC,
}
"""How the paper has its rows search, for tables that are held against its own."""
