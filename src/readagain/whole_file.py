"""Files that are there whole or not at all."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def written_aside(path: Path) -> Iterator[Path]:
    """Offer a name beside `path` to write under; what is there in the end takes its place.

    When something goes wrong meanwhile, what stood at `path` stays and the attempt is removed.
    """
    aside = path.with_name(f"{path.name}.part")
    try:
        yield aside
        aside.replace(path)
    except BaseException:
        aside.unlink(missing_ok=True)
        raise
