"""Put results where others can read them: a page, and the figures behind it, without any text."""

import shutil
from pathlib import Path

from readagain.errors import DataError
from readagain.evaluation.writing import write_whole
from readagain.experiments.report import PAGE_FILE, TABLES_FOLDER
from readagain.experiments.results import ROWS_FOLDER
from readagain.experiments.time_table import TIMING_FILE

BEGIN, END = "<!-- written by readagain reproduce -->", "<!-- end of what it wrote -->"
_FIGURES = (".csv", ".json", ".png")


def publish(out: Path, page: Path) -> Path:
    """Write what `write_report` wrote between the marks of `page`, and its figures beside it.

    What a person wrote outside the marks stays. The figures go into a folder with the page's name:
    `results/` for `results.md`; it holds `rows/` and can be reported on again. Summaries stay
    where they are, since they copy from texts that may not be published.

    Returns:
        The folder of figures.

    Raises:
        DataError: when there is nothing to publish, the page has no marks to write between, or
            its folder is the one that is published.
    """
    folder = page.with_suffix("")
    if folder.resolve() == out.resolve():
        raise DataError(
            f"{page}: its figures would go into {folder}, where the results themselves lie; name "
            "another page"
        )
    if not (out / PAGE_FILE).exists():
        raise DataError(f"{out}: no {PAGE_FILE} in it to publish; run some rows first")
    before, after = _around(page)
    written = (out / PAGE_FILE).read_text(encoding="utf-8").partition("\n")[2].strip()
    written = written.replace(f"]({TABLES_FOLDER}/", f"]({folder.name}/{TABLES_FOLDER}/")
    _copy(out / ROWS_FOLDER, folder / ROWS_FOLDER, (".json",))
    _copy(out / TABLES_FOLDER, folder / TABLES_FOLDER, _FIGURES)
    (folder / TIMING_FILE).unlink(missing_ok=True)
    if (out / TIMING_FILE).exists():
        shutil.copyfile(out / TIMING_FILE, folder / TIMING_FILE)
    write_whole(page, f"{before}{BEGIN}\n\n{written}\n\n{END}{after}")
    return folder


def _around(page: Path) -> tuple[str, str]:
    """Return what stands on a page before and after the part that is ours."""
    if not page.exists():
        return "# Results\n\n", "\n"
    text = page.read_text(encoding="utf-8")
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise DataError(
            f"{page}: expected the lines '{BEGIN}' and '{END}', between which the page is written; "
            "add them, or name another file"
        )
    return before, after


def _copy(source: Path, target: Path, suffixes: tuple[str, ...]) -> None:
    """Make `target` hold the files of these kinds, and no older ones."""
    aside = target.with_name(f"{target.name}.part")
    shutil.rmtree(aside, ignore_errors=True)
    aside.mkdir(parents=True)
    for path in sorted(source.rglob("*")):
        if path.suffix in suffixes:
            copy = aside / path.relative_to(source)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, copy)
    shutil.rmtree(target, ignore_errors=True)
    aside.rename(target)
