"""Which version of the package this is."""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("readagain")
except PackageNotFoundError:  # run from a source tree that nobody installed
    __version__ = "0.0.0+source"
