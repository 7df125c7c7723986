"""What one search is asked for, over what the model does by itself."""

from dataclasses import asdict, dataclass, replace
from typing import Any

from readagain.config.schema import DecodeSpec
from readagain.config.settings import settings_of
from readagain.errors import ArgumentError

_SETTINGS = {"beam": "beam_size"}  # every other argument is called as its setting


@dataclass(frozen=True, kw_only=True)
class DecodeOverrides:
    """What differs from a model's own settings; None leaves them as they are.

    Calls, commands, requests and protocols ask for it under these names, so it is told by them
    when it cannot be honoured.

    Raises:
        ArgumentError: naming every value that is out of range.
    """

    beam: int | None = None
    min_words: int | None = None
    max_words: int | None = None
    min_bytes: int | None = None
    max_bytes: int | None = None
    diversity: float | None = None
    consensus_by: str | None = None

    def __post_init__(self) -> None:
        complaints = {}
        for name, value in self.given.items():
            setting = settings_of(DecodeSpec)[_SETTINGS.get(name, name)]
            is_whole = setting.value_type is float and type(value) is int  # which is a number too
            complaint = setting.complaint(float(value) if is_whole else value)
            if complaint is not None:
                complaints[name] = complaint
        if complaints:
            message = "; ".join(f"{{{name}}} {{{place}}}" for place, name in enumerate(complaints))
            raise ArgumentError(message, *complaints.values())

    @property
    def given(self) -> dict[str, Any]:
        """What is asked for, by name."""
        return {name: value for name, value in asdict(self).items() if value is not None}

    def over(self, other: "DecodeOverrides") -> "DecodeOverrides":
        """Return these settings, and the other ones where these say nothing.

        A maximum that was asked for lowers a minimum that was not; 0 is no maximum.

        Raises:
            ArgumentError: for a minimum above its maximum.
        """
        given = self.given
        both = other.given | given
        for unit in ("words", "bytes"):
            fewest, most = f"min_{unit}", f"max_{unit}"
            if not 0 < both.get(most, 0) < both.get(fewest, 0):
                continue
            if fewest in given or most not in given:
                raise ArgumentError(
                    f"{{{fewest}}} is {{0}}; expected at most {{{most}}}, which is {{1}}",
                    both[fewest],
                    both[most],
                )
            both[fewest] = both[most]
        return DecodeOverrides(**both)

    def applied_to(self, decode: DecodeSpec) -> DecodeSpec:
        """Return how a model with these settings of its own searches when it is asked for this.

        Raises:
            ArgumentError: for a minimum above its maximum.
        """
        names = asdict(self)
        own = {name: getattr(decode, _SETTINGS.get(name, name)) for name in names}
        used = self.over(DecodeOverrides(**own))
        return replace(decode, **{_SETTINGS.get(name, name): getattr(used, name) for name in names})


NO_OVERRIDES = DecodeOverrides()
