"""Read a text twice, then say it briefly."""

from importlib import import_module

# Types are in `__init__.pyi`; imports inside the package do not use these names.
_HOMES = {
    "PRESETS": "readagain.presets",
    "Summarizer": "readagain.engine.summarizer",
    "Summary": "readagain.engine.summary",
    "__version__": "readagain.version",
    "fit": "readagain.fitting.fit",
}

__all__ = list(_HOMES)


def __getattr__(name: str) -> object:
    """Import a public name on first use, so that `import readagain` stays fast."""
    if name not in _HOMES:
        raise AttributeError(f"readagain has no '{name}'; it has {', '.join(_HOMES)}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(_HOMES)
