"""Serve: check what was asked for, then answer until told to stop."""

from collections.abc import Callable
from pathlib import Path

from readagain.errors import ConfigError, require
from readagain.model_dir import ModelDir
from readagain.serve.address import bind, url
from readagain.serve.settings import ServeSettings
from readagain.storage.bundled import find_model

MIN_KEY_LENGTH = 16


def serve(settings: ServeSettings, announce: Callable[[str], None]) -> None:
    """Answer requests until SIGTERM or Ctrl-C, then finish those that were taken.

    Args:
        settings: what to serve.
        announce: is told the address once requests are answered.

    Raises:
        ArtifactError: when a model cannot be used.
        ConfigError: when the port cannot be taken.
        MissingExtraError: when the extra is not installed.
    """
    for module in ("fastapi", "uvicorn", "prometheus_client"):
        require(module, extra="serve", purpose="serving")
    for model in settings.models:
        ModelDir.open(find_model(model))
    if settings.workers > 1:
        from readagain.serve.supervisor import Supervisor

        Supervisor(settings).run(announce)
        return
    from readagain.serve.worker import run_worker

    taken = bind(settings.host, settings.port, shared=False)
    address = url(settings.host, taken.getsockname()[1])
    run_worker(settings, taken, lambda: announce(address))


def check_keys(keys: list[str], where: str) -> tuple[str, ...]:
    """Check that keys can be sent, and not be guessed.

    Raises:
        ConfigError: without repeating a key.
    """
    for number, key in enumerate(keys, start=1):
        if len(key) < MIN_KEY_LENGTH or not all("!" <= character <= "~" for character in key):
            raise ConfigError(
                f"{where}: key {number} cannot be used; expected {MIN_KEY_LENGTH} or more letters, "
                "digits and signs without a space, as from: "
                "python -c 'import secrets; print(secrets.token_urlsafe())'"
            )
    return tuple(keys)


def read_keys(path: Path) -> tuple[str, ...]:
    """Read the keys of a file: one a line; empty lines and those that begin with # are no keys.

    Raises:
        ConfigError: for a file that cannot be read, or holds no key.
    """
    try:
        lines = [line.strip() for line in path.read_text(encoding="utf-8").splitlines()]
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "not UTF-8"
        raise ConfigError(f"{path}: cannot be read: {reason}; expected one key a line") from error
    keys = [line for line in lines if line and not line.startswith("#")]
    if not keys:
        raise ConfigError(f"{path}: no key in it; expected one a line")
    return check_keys(keys, str(path))
