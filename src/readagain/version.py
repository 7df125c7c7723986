"""Version of the package."""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("readagain")
except PackageNotFoundError:  # a source tree that is not installed
    __version__ = "0.0.0+source"
