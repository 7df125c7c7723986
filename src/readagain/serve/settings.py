"""Settings of the server, with their defaults and checks."""

import re
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated

from readagain.config.fields import Range, check_fields
from readagain.errors import ArgumentError, ConfigError
from readagain.storage.bundled import DEFAULT_MODEL, model_name

MAX_BEAM = 32
"""Largest beam size of a request; time and memory grow with it."""
MAX_WORDS = 64
"""Largest word limit of a request."""
OPTION_LIMITS: dict[str, float] = {
    "max_words": MAX_WORDS,
    "min_words": MAX_WORDS,
    "max_bytes": 10_000,
    "min_bytes": 10_000,
    "beam": MAX_BEAM,
    "n_best": MAX_BEAM,
    "diversity": 10.0,
    "begin": 1_000,
    "style": 40,
}
"""Largest value of a numeric option in a request, or largest length of a text option."""
MIN_KEY_LENGTH = 16
METRICS_DIR = "PROMETHEUS_MULTIPROC_DIR"
"""Environment variable that prometheus_client reads when it is imported."""

# An origin is a scheme and a host, or *.
_ORIGIN = re.compile(r"https?://[^/\s]+|\*")
# A host is a name, which may start with "*.", an IPv6 address in brackets, or *.
_HOST = re.compile(r"(\*\.)?[^/\s:*]+|\[[0-9a-fA-F:.]+\]|\*")
_Size = Annotated[int, Range(1)]


@dataclass(frozen=True, kw_only=True)
class RequestLimits:
    """Limits of one request, and of the requests in one worker."""

    max_body_bytes: _Size = 1 << 20
    """Maximum bytes of a request body."""
    max_texts: _Size = 64
    """Maximum texts of a request."""
    max_chars: _Size = 20_000
    """Characters of a text that are read; longer texts are cut."""
    max_queue: _Size = 256
    """Maximum texts waiting in a worker; further requests are rejected immediately."""
    max_requests: _Size = 256
    """Maximum requests in progress in a worker; also the maximum bodies being received."""
    max_connections: _Size = 800
    """Maximum open connections of a worker."""
    max_wait_ms: Annotated[float, Range(0, 1000)] = 3.0
    """Maximum milliseconds that a text waits for others to form a batch."""
    timeout_s: Annotated[float, Range(0, exclusive=True)] = 10.0
    """Maximum seconds from the first byte of a request to its response."""

    def __post_init__(self) -> None:
        check_fields(self)
        if self.max_queue < self.max_texts:
            raise ArgumentError(
                "{max_queue} is {0}; expected at least {max_texts} ({1})",
                self.max_queue,
                self.max_texts,
            )


@dataclass(frozen=True, kw_only=True)
class ServeSettings:
    """Address, models, processes and access rules of a server."""

    host: str = "127.0.0.1"
    """Address to listen on; 0.0.0.0 for all addresses of the machine."""
    port: Annotated[int, Range(0, 65535)] = 8000
    """Port to listen on; 0 for any free port."""
    models: tuple[str, ...] = (DEFAULT_MODEL,)
    """Bundled model or model folder; the first is the default."""
    workers: _Size = 1
    """Number of server processes, which share the port."""
    threads: _Size = 1
    """Number of threads per worker."""
    limits: RequestLimits = field(default_factory=RequestLimits)
    api_keys: tuple[str, ...] = field(default=(), repr=False)
    """Accepted API keys; if empty, no key is needed."""
    cors_origins: tuple[str, ...] = ()
    """Web site whose pages may send requests, such as https://example.org, or * for all sites."""
    allowed_hosts: tuple[str, ...] = ()
    """Host name, such as that of a proxy, that a local server without a key also accepts."""

    def __post_init__(self) -> None:
        check_fields(self)
        names = self.model_names
        duplicates = sorted({name for name in names if names.count(name) > 1})
        if duplicates:
            raise ConfigError(f"models: two are named '{duplicates[0]}'; rename one of the folders")
        for origin in self.cors_origins:
            if not _ORIGIN.fullmatch(origin):
                raise ConfigError(
                    f"CORS origin: {origin!r} is invalid; expected a form such as "
                    "https://example.org, without a path, or * for every site"
                )
        for host in self.allowed_hosts:
            if not _HOST.fullmatch(host):
                raise ConfigError(
                    f"allowed host: {host!r} is invalid; expected a form such as example.org, "
                    "without a port, or *.example.org"
                )

    @property
    def model_names(self) -> tuple[str, ...]:
        """Return the names by which requests select models: the names of their folders."""
        return tuple(map(model_name, self.models))

    @property
    def is_local(self) -> bool:
        """Return whether only this machine can reach the server."""
        if self.host == "localhost":
            return True
        try:
            return ip_address(self.host).is_loopback
        except ValueError:  # a name that may resolve to any address
            return False

    @property
    def trusted_hosts(self) -> tuple[str, ...]:
        """Return the accepted Host headers.

        A local server without a key accepts few names, to prevent DNS rebinding: a page of another
        site could otherwise reach it under the name of that site. Other servers accept every name,
        because reverse proxies may forward any Host header.
        """
        if self.api_keys or not self.is_local:
            return ("*",)
        return ("localhost", "127.0.0.1", "[::1]", self.host, *self.allowed_hosts)


def check_api_keys(keys: list[str], where: str) -> tuple[str, ...]:
    """Check that keys are long enough and can be sent in a header; no message contains a key."""
    for number, key in enumerate(keys, start=1):
        if len(key) < MIN_KEY_LENGTH or not all("!" <= character <= "~" for character in key):
            raise ConfigError(
                f"{where}: key {number} is invalid; expected {MIN_KEY_LENGTH} or more letters, "
                "digits or punctuation characters (ASCII, no spaces); generate one with: "
                "python -c 'import secrets; print(secrets.token_urlsafe())'"
            )
    return tuple(keys)


def read_api_keys(path: Path) -> tuple[str, ...]:
    """Read a file of keys, one per line; empty lines and lines that start with # are skipped."""
    try:
        lines = [line.strip() for line in path.read_text(encoding="utf-8").splitlines()]
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "not UTF-8"
        raise ConfigError(
            f"{path}: cannot be read ({reason}); expected one key per line"
        ) from error
    keys = [line for line in lines if line and not line.startswith("#")]
    if not keys:
        raise ConfigError(f"{path}: contains no key; expected one per line")
    return check_api_keys(keys, str(path))
