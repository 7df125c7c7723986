"""Read a text twice, then say it briefly."""

from importlib import import_module

# Their types stand in `__init__.pyi`, where no import of ours goes through.
_HOMES = {
    "PRESETS": "readagain.presets",
    "Summarizer": "readagain.engine.summarizer",
    "Summary": "readagain.engine.summary",
    "__version__": "readagain.version",
}

__all__ = list(_HOMES)


def __getattr__(name: str) -> object:
    """Find a public name on first use, so that importing a light module stays light."""
    if name not in _HOMES:
        raise AttributeError(f"readagain has no '{name}'; it offers {', '.join(_HOMES)}")
    return getattr(import_module(_HOMES[name]), name)
