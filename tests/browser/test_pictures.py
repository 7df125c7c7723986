"""Pictures of the page, as docs/serving.md shows them.

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
COLOURS = 128  # enough for the shades; a fraction of the bytes


@pytest.fixture
def take(reader, tmp_path):
    """Take a picture of what the page shows, and look at it."""
    folder = Path(os.environ.get("PICTURES") or tmp_path)

    def picture(name: str) -> None:
        whole = Image.open(BytesIO(reader.browser.get_screenshot_as_png())).convert("RGB")
        assert len(whole.getcolors(maxcolors=whole.width * whole.height)) > COLOURS  # not blank
        whole.quantize(COLOURS, dither=Image.Dither.NONE).save(folder / name, optimize=True)
        assert f"](images/{name})" in (ROOT / "docs" / "serving.md").read_text(encoding="utf-8")

    return picture


def test_a_headline_by_day(reader, take):
    reader.one(".chip").click()
    reader.waits_until_done()
    reader.script("document.activeElement.blur()")
    take("page.png")


def test_a_word_pointed_at_by_night(reader, take):
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
