"""Headlines: typing, length, models, samples and copying."""

import shutil
from pathlib import Path

import pytest
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

from readagain.config.files import save_run
from readagain.config.override import override
from readagain.model_dir import RUN_FILE, ModelDir
from readagain.storage.model_manifest import write_model_files

pytestmark = pytest.mark.slow

TOY = Path(__file__).parents[1] / "assets" / "models" / "toy"
BRIDGE = "The council of Ghent voted on Monday to close the old bridge after the storm."


def chosen_length(home_page) -> int:
    return int(home_page.find("#length").get_property("value"))


def others(home_page) -> list[str]:
    return [each.text.replace("\n", " ") for each in home_page.find_all("#alternatives li span")]


def test_headline_appears_while_typing(home_page, server):
    home_page.type_text(BRIDGE)
    home_page.wait_until_done()
    assert home_page.headline() == server.summarize(BRIDGE)["summary"]
    assert home_page.text("#latency").startswith("answered in ")
    assert home_page.text("#latency").endswith(" ms")


def test_text_and_headline_survive_reload(home_page, ferry):
    headline = home_page.summarize(ferry)
    home_page.reload()
    home_page.wait_until_done()
    assert home_page.find("#text").get_property("value") == ferry
    assert home_page.headline() == headline


def test_fast_typing_sends_one_request(home_page):
    home_page.requested_urls()
    home_page.script(
        """const text = document.getElementById("text");
        for (const word of arguments[0].split(" ")) {
          text.value += word + " ";
          text.dispatchEvent(new Event("input"));
        }""",
        BRIDGE,
    )
    home_page.wait_until_done()
    assert [url.rpartition("/")[2] for url in home_page.requested_urls()] == ["summarize"]
    assert home_page.headline() != ""


def test_late_response_is_dropped(home_page, ferry, server):
    home_page.script(
        """const real = window.fetch;
        window.late = [];
        window.fetch = async (...question) => {
          const answer = await real(question[0], { ...question[1], signal: undefined });
          const isFirst = window.late.length === 0;
          await new Promise((go) => { window.late.push(go); if (!isFirst) go(); });
          return answer;
        };"""
    )
    home_page.paste(BRIDGE)
    home_page.wait_for(lambda: home_page.script("return window.late.length") == 1)
    headline = home_page.summarize(ferry)
    home_page.script("window.late[0]()")
    home_page.script("return new Promise((done) => setTimeout(done))")
    assert home_page.headline() == headline == server.summarize(ferry)["summary"]


def test_new_request_cancels_the_old_one(home_page, ferry):
    home_page.script(
        """const real = window.fetch;
        window.signals = [];
        window.fetch = (path, options) => {
          window.signals.push(options.signal);
          return window.signals.length === 1 ? new Promise(() => {}) : real(path, options);
        };"""
    )
    home_page.paste(BRIDGE)
    home_page.wait_for(lambda: home_page.script("return window.signals.length") == 1)
    home_page.summarize(ferry)
    assert home_page.script("return window.signals.map((each) => each.aborted)") == [True, False]


def test_alternatives_are_listed(home_page, ferry, server):
    home_page.summarize(ferry)
    answer = server.summarize(ferry, n_best=5)
    assert len(answer["alternatives"]) == 4
    expected = [each["summary"] for each in answer["alternatives"]]
    assert others(home_page) == expected


@pytest.mark.parametrize("most", [4, 6])
def test_word_limit_is_respected(home_page, ferry, server, most):
    home_page.summarize(ferry)
    home_page.set_length(most)
    assert home_page.text("#length-value") == f"{most} words"
    home_page.wait_until_done()
    words = len(home_page.headline().split())
    assert words <= most
    assert all(len(other.split()) <= most for other in others(home_page))
    assert home_page.headline() == server.summarize(ferry, max_words=most)["summary"]
    assert home_page.text("#count").startswith(f"{words} of {most} words")


def test_character_limit_is_respected(home_page, ferry, server):
    home_page.summarize(ferry)
    home_page.find("label[for=unit-characters]").click()
    home_page.set_length(30)
    assert home_page.text("#length-value") == "30 characters"
    home_page.wait_until_done()
    characters = len(home_page.headline())
    assert 0 < characters <= 30
    assert all(len(other) <= 30 for other in others(home_page))
    assert home_page.headline() == server.summarize(ferry, max_bytes=30)["summary"]
    assert f"{characters} of 30 characters" in home_page.text("#count")


def test_each_unit_keeps_its_length(home_page):
    home_page.set_length(7)
    home_page.find("#unit-words").send_keys(Keys.ARROW_RIGHT)
    home_page.set_length(50)
    home_page.find("#unit-characters").send_keys(Keys.ARROW_LEFT)
    assert chosen_length(home_page) == 7


def test_model_can_be_selected(home_page, ferry, server):
    home_page.summarize(ferry)
    choice = Select(home_page.find("#model"))
    names = [each["name"] for each in server.ask("v1/models")["models"]]
    assert [option.text for option in choice.options] == names == ["news", "toy"]
    choice.select_by_value("toy")
    home_page.wait_until_done()
    answer = server.summarize(ferry, model="toy", n_best=4, max_words=12)
    assert home_page.headline() == answer["summary"]
    assert len(home_page.find_all("#alternatives li")) == 3  # its beam has four
    assert chosen_length(home_page) == 12
    assert home_page.text("#model-title") == "Toy; for English text"


def test_length_stays_within_server_limit(page, own_server, tmp_path, ferry):
    wordy = shutil.copytree(TOY, tmp_path / "wordy")
    run = override(ModelDir.open(TOY).run, {"decode.min_words": 7, "decode.max_words": 100})
    write_model_files(wordy, {RUN_FILE: lambda path: save_run(run, path)})
    server = own_server("--model", wordy)
    page.open_server(server)
    Select(page.find("#model")).select_by_value("wordy")
    assert chosen_length(page) == server.ask("v1/models")["limits"]["max_words"] == 64
    assert page.summarize(ferry) != ""
    page.find("#length").send_keys(Keys.HOME)
    page.wait_until_done()
    assert chosen_length(page) == 7
    assert not page.is_visible("#error")


def test_sample_button_fills_text(home_page):
    sample = home_page.find(".chip")
    sample.click()
    home_page.wait_until_done()
    assert home_page.find("#text").get_property("value") == sample.get_property("value")
    assert home_page.headline() != ""


def test_clear_button_removes_text_and_headline(home_page, ferry):
    home_page.summarize(ferry)
    home_page.find("#clear").click()
    home_page.wait_until_done()
    assert home_page.find("#text").get_property("value") == ""
    assert home_page.headline() == ""
    assert home_page.text("#placeholder").startswith("Your headline appears here")
    assert not home_page.is_visible("#why")


def test_text_without_words_shows_message(home_page):
    assert home_page.summarize("... !!") == ""
    assert home_page.text("#placeholder") == "This text has no words."


def copies(home_page, selector: str) -> str:
    """Press a copy button and return the content of the clipboard."""
    home_page.find(selector).click()
    said = home_page.find("#status")
    home_page.wait_for(lambda: said.get_property("textContent").startswith("Copied: "))
    home_page.find("#text").send_keys(Keys.CONTROL, "av")
    pasted = home_page.find("#text").get_property("value")
    assert said.get_property("textContent") == f"Copied: {pasted}"
    return pasted


def test_copy_button_copies_headline(home_page, ferry):
    headline = home_page.summarize(ferry)
    assert copies(home_page, "#copy") == headline


def test_copy_button_confirms_briefly(home_page, ferry):
    home_page.summarize(ferry)
    home_page.script(
        """const button = document.getElementById("copy");
        window.labels = [];
        new MutationObserver(() => window.labels.push(button.textContent))
          .observe(button, { childList: true });"""
    )
    home_page.find("#copy").click()
    labels = ["Copied", "Copy headline"]
    home_page.wait_for(lambda: home_page.script("return window.labels") == labels)


def test_alternatives_have_copy_buttons(home_page, ferry):
    home_page.summarize(ferry)
    second = others(home_page)[1]
    assert copies(home_page, "#alternatives li:nth-child(2) button") == second


def test_copy_works_without_clipboard_api(home_page, ferry):
    headline = home_page.summarize(ferry)
    home_page.script("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    assert copies(home_page, "#copy") == headline
