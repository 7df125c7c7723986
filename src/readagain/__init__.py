"""Headlines for news texts, with the Read-Again encoder and copy mechanism of Zeng et al. 2016."""

from importlib import import_module

# Module of each public name. The types of these names are in `__init__.pyi`.
_MODULES = {
    "PRESETS": "readagain.presets",
    "Summarizer": "readagain.engine.summarizer",
    "Summary": "readagain.engine.summary",
    "__version__": "readagain.version",
    "compute_rouge": "readagain.api",
    "evaluate": "readagain.api",
    "export_model": "readagain.api",
    "fit": "readagain.fitting.fit",
    "prepare": "readagain.api",
    "train": "readagain.api",
}

__all__ = list(_MODULES)


def __getattr__(name: str) -> object:
    """Import a public name on first use, which keeps `import readagain` fast."""
    if name not in _MODULES:
        raise AttributeError(f"readagain has no '{name}'; it has {', '.join(_MODULES)}")
    return getattr(import_module(_MODULES[name]), name)


def __dir__() -> list[str]:
    return sorted(_MODULES)
