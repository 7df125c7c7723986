"""What a server is told: models, address, limits. The only home of its defaults."""

import re
from dataclasses import dataclass, field, fields
from ipaddress import ip_address
from typing import Annotated, get_args, get_type_hints

from readagain.config.ranges import AtLeast, Between, MoreThan
from readagain.errors import ArgumentError, ConfigError
from readagain.storage.bundled import DEFAULT_MODEL, model_name

MAX_BEAM = 32
"""The widest beam that a request may ask for; time and memory grow with it."""
MAX_WORDS = 64
"""The longest summary that a request may ask for."""
OPTION_LIMITS: dict[str, float] = {
    "max_words": MAX_WORDS,
    "min_words": MAX_WORDS,
    "max_bytes": 10_000,
    "min_bytes": 10_000,
    "beam": MAX_BEAM,
    "n_best": MAX_BEAM,
    "diversity": 10.0,
    "begin": 1_000,
}
"""Largest value of an option in a request: of a number, or of the characters of a text."""
GRACE_S = 2.0
"""How much longer than a request may take a stopping worker waits for its last ones."""
SHARED_METRICS = "PROMETHEUS_MULTIPROC_DIR"
"""Names the folder where workers keep their numbers, so that each can show the sums of all. It is
read when prometheus_client is imported."""

_ORIGIN = re.compile(r"https?://[^/\s]+|\*")
_Size = Annotated[int, AtLeast(1)]


@dataclass(frozen=True, kw_only=True)
class RequestLimits:
    """What one request may ask for at most, and what waits at most."""

    max_body_bytes: _Size = 1 << 20
    max_texts: _Size = 64
    max_chars: _Size = 20_000
    """Characters of one text."""
    max_queue: _Size = 256
    """Texts that may wait in a worker; a request that finds no room is refused at once."""
    max_requests: _Size = 256
    """Requests with texts in a worker at once, those whose body is on its way included; so memory
    for bodies is bounded too."""
    max_wait_ms: Annotated[float, Between(0, 1000)] = 3.0
    """How long a text waits for others to be read with, at most."""
    timeout_s: Annotated[float, MoreThan(0)] = 10.0
    """How long a request may take, from its first byte to its answer."""

    def __post_init__(self) -> None:
        _check_ranges(self)
        if self.max_queue < self.max_texts:
            raise ArgumentError(
                "{max_queue} is {0}; expected {max_texts}, which is {1}, or more: a request of so "
                "many texts would never find room",
                self.max_queue,
                self.max_texts,
            )


@dataclass(frozen=True, kw_only=True)
class ServeSettings:
    """A server: where it listens, what it loads, whom it answers."""

    host: str = "127.0.0.1"
    port: Annotated[int, Between(0, 65535)] = 8000
    """0 takes any free port."""
    models: tuple[str, ...] = (DEFAULT_MODEL,)
    """Bundled models by name, or model folders; the first is the default."""
    workers: _Size = 1
    """Processes that share the port."""
    threads: _Size = 1
    """Threads that a worker computes with."""
    limits: RequestLimits = field(default_factory=RequestLimits)
    api_keys: tuple[str, ...] = field(default=(), repr=False)
    """One of these must come with a request; without any, everybody is answered."""
    cors_origins: tuple[str, ...] = ()
    """Other sites whose pages may ask; * is every site."""

    def __post_init__(self) -> None:
        _check_ranges(self)
        names = self.model_names
        doubled = sorted({name for name in names if names.count(name) > 1})
        if doubled:
            raise ConfigError(
                f"two models are called '{doubled[0]}'; rename one of the folders, since requests "
                "ask for a model by that name"
            )
        for origin in self.cors_origins:
            if not _ORIGIN.fullmatch(origin):
                raise ConfigError(
                    f"no origin: {origin!r}; expected one as browsers send it, such as "
                    "https://example.org, without a path, or * for every site"
                )

    @property
    def model_names(self) -> tuple[str, ...]:
        """Return what requests call the models: the names of their folders."""
        return tuple(map(model_name, self.models))

    @property
    def is_local(self) -> bool:
        """Say whether only this machine can reach the server."""
        if self.host == "localhost":
            return True
        try:
            return ip_address(self.host).is_loopback
        except ValueError:  # a name that may resolve to anything
            return False


def _check_ranges(settings: RequestLimits | ServeSettings) -> None:
    """Check the numbers of settings against the ranges declared beside them.

    Raises:
        ConfigError: naming the setting, its value, and what would be right.
    """
    hints = get_type_hints(type(settings), include_extras=True)
    for each in fields(settings):
        value = getattr(settings, each.name)
        for bounds in get_args(hints[each.name])[1:]:
            if isinstance(bounds, AtLeast | Between | MoreThan) and not bounds.admits(value):
                raise ArgumentError(f"{{{each.name}}} is {{0}}; expected {{1}}", value, bounds)
