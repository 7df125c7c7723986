"""Pictures of the page and of an explanation, as docs/serving.md and docs/explain.md show them.

`PICTURES=docs/images pytest tests/browser/test_pictures.py` takes them anew; Inter, Noto Serif and
their like should be installed (Debian: fonts-inter, fonts-noto-core). Without PICTURES the tests
take them aside, so that what the docs show stays what the page can show.
"""

import os
from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
COLOURS = 256  # enough for the shades; a third of the bytes


def screen(person) -> Image.Image:
    """Return what a person sees; it is not blank."""
    whole = Image.open(BytesIO(person.browser.get_screenshot_as_png())).convert("RGB")
    assert len(whole.getcolors(maxcolors=whole.width * whole.height)) > COLOURS
    return whole


@pytest.fixture
def keep(tmp_path):
    """Keep a picture that a page of the docs shows."""
    folder = Path(os.environ.get("PICTURES") or tmp_path)

    def save(whole: Image.Image, name: str, *, page: str) -> None:
        # Coverage gives rare colours a share, the means give the frequent ones back exactly.
        small = whole.quantize(COLOURS, Image.Quantize.MAXCOVERAGE, 3, dither=Image.Dither.NONE)
        small.save(folder / name, optimize=True)
        assert f"](images/{name})" in (ROOT / "docs" / page).read_text(encoding="utf-8")

    return save


@pytest.fixture
def take(reader, keep):
    """Take a picture of what the page shows."""
    return lambda name: keep(screen(reader), name, page="serving.md")


def test_a_headline_by_day(reader, take):
    reader.has_a_screen(1280, 940)
    reader.one(".chip").click()
    reader.waits_until_done()
    reader.script("document.activeElement.blur()")
    take("page.png")


def test_a_word_pointed_at_by_night(reader, take):
    reader.has_a_screen(1280, 940)
    reader.prefers(color_scheme="dark")
    reader.one(".chip").click()
    reader.waits_until_done()
    reader.points_at(reader.all("#headline .copied")[-2])
    assert reader.all("#reading .taken")
    take("page-dark.png")


def test_a_phone(reader, take):
    reader.has_a_screen(360, 740, scale=2)
    reader.all(".chip")[2].click()
    reader.waits_until_done()
    reader.script("document.activeElement.blur()")
    take("page-phone.png")


def test_the_table_of_attention(reader, take):
    reader.one(".chip").click()
    reader.waits_until_done()
    reader.one("summary").click()
    reader.waits_for(lambda: reader.all("td"))
    reader.script("document.getElementById('why').scrollIntoView()")
    take("page-attention.png")


def test_a_server_that_is_gone(reader, take):
    reader.expected_errors = ["ERR_BLOCKED_BY_CLIENT"]
    reader.one(".chip").click()
    reader.waits_until_done()
    reader.loses_the_server()
    reader.types(" A crane was sent.")
    reader.waits_for(lambda: reader.sees("#trouble"))
    take("page-trouble.png")


def test_an_explanation_by_day_and_by_night(person, explanation, keep):
    width, height = 900, 530
    both = Image.new("RGB", (2 * width, height))
    person.has_a_screen(width, height)
    person.reads_page(explanation)
    both.paste(screen(person), (0, 0))
    person.prefers(color_scheme="dark")
    person.points_at(next(word for word in person.all("h1 .copied") if word.text == "ferry"))
    person.waits_for(lambda: "looked most at" in person.text("#said"))
    both.paste(screen(person), (width, 0))
    keep(both, "explain-page.png", page="explain.md")
