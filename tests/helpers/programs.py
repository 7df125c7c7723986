"""Check for system programs; a test is skipped if one is missing."""

import shutil

import pytest

DEBIAN_PACKAGES = {
    "chromedriver": "chromium-driver",
    "chromium": "chromium",
    "curl": "curl",
    "git": "git",
    "link-parser": "link-grammar",
    "nginx": "nginx-light",
    "perl": "perl libxml-parser-perl libxml-dom-perl",
}


def require_programs(*names: str) -> None:
    """Skip the running test unless all programs are installed; name the packages to install."""
    missing = [name for name in names if shutil.which(name) is None]
    if missing:
        skip_for_missing(*missing)


def skip_for_missing(*names: str) -> None:
    """Skip the running test and name the Debian packages of the missing programs."""
    packages = " ".join(DEBIAN_PACKAGES[name] for name in names)
    pytest.skip(f"{', '.join(names)} not found; type: apt-get install {packages}")
