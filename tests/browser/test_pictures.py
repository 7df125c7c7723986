"""Screenshots for docs/serving.md and docs/explain.md.

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


def screen(page) -> Image.Image:
    """Return a screenshot, after checking that it is not blank."""
    whole = Image.open(BytesIO(page.browser.get_screenshot_as_png())).convert("RGB")
    assert len(whole.getcolors(maxcolors=whole.width * whole.height)) > COLOURS
    return whole


@pytest.fixture
def keep(tmp_path):
    """Save an image of the documentation."""
    folder = Path(os.environ.get("PICTURES") or tmp_path)

    def save(whole: Image.Image, name: str, *, page: str) -> None:
        # Coverage gives rare colours a share, the means give the frequent ones back exactly.
        small = whole.quantize(COLOURS, Image.Quantize.MAXCOVERAGE, 3, dither=Image.Dither.NONE)
        small.save(folder / name, optimize=True)
        assert f"](images/{name})" in (ROOT / "docs" / page).read_text(encoding="utf-8")

    return save


@pytest.fixture
def take(home_page, keep):
    """Save a screenshot of the page."""
    return lambda name: keep(screen(home_page), name, page="serving.md")


def test_screenshot_light(home_page, take):
    home_page.set_screen(1280, 940)
    home_page.find(".chip").click()
    home_page.wait_until_done()
    home_page.script("document.activeElement.blur()")
    take("page.png")


def test_screenshot_dark(home_page, take):
    home_page.set_screen(1280, 940)
    home_page.set_preferences(color_scheme="dark")
    home_page.find(".chip").click()
    home_page.wait_until_done()
    home_page.hover(home_page.find_all("#headline .copied")[-2])
    assert home_page.find_all("#reading .taken")
    take("page-dark.png")


def test_screenshot_phone(home_page, take):
    home_page.set_screen(360, 740, scale=2)
    home_page.find_all(".chip")[2].click()
    home_page.wait_until_done()
    home_page.script("document.activeElement.blur()")
    take("page-phone.png")


def test_screenshot_attention_table(home_page, take):
    home_page.find(".chip").click()
    home_page.wait_until_done()
    home_page.find("summary").click()
    home_page.wait_for(lambda: home_page.find_all("td"))
    home_page.script("document.getElementById('why').scrollIntoView()")
    take("page-attention.png")


def test_screenshot_of_stopped_server(home_page, take):
    home_page.expected_errors = ["ERR_BLOCKED_BY_CLIENT"]
    home_page.find(".chip").click()
    home_page.wait_until_done()
    home_page.block_server()
    home_page.type_text(" A crane was sent.")
    home_page.wait_for(lambda: home_page.is_visible("#error"))
    take("page-trouble.png")


def test_screenshot_explanation(page, explanation, keep):
    width, height = 900, 530
    both = Image.new("RGB", (2 * width, height))
    page.set_screen(width, height)
    page.open_url(explanation)
    both.paste(screen(page), (0, 0))
    page.set_preferences(color_scheme="dark")
    page.hover(next(word for word in page.find_all("#headline .copied") if word.text == "ferry"))
    page.wait_for(lambda: "most attention to" in page.text("#description"))
    both.paste(screen(page), (width, 0))
    keep(both, "explain-page.png", page="explain.md")
