"""A person pastes a text and gets headlines: as long as wanted, by the model wanted, to copy."""

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


def chosen_length(reader) -> int:
    return int(reader.one("#length").get_property("value"))


def others(reader) -> list[str]:
    return [each.text.replace("\n", " ") for each in reader.all("#alternatives li span")]


def test_a_headline_appears_while_one_types(reader, server):
    reader.types(BRIDGE)
    reader.waits_until_done()
    assert reader.headline() == server.summarize(BRIDGE)["summary"]
    assert reader.text("#latency").startswith("answered in ")
    assert reader.text("#latency").endswith(" ms")


def test_text_and_headline_survive_a_reload(reader, ferry):
    headline = reader.reads(ferry)
    reader.reloads()
    reader.waits_until_done()
    assert reader.one("#text").get_property("value") == ferry
    assert reader.headline() == headline


def test_many_keys_at_once_are_one_question(reader):
    reader.asked_for()
    reader.script(
        """const text = document.getElementById("text");
        for (const word of arguments[0].split(" ")) {
          text.value += word + " ";
          text.dispatchEvent(new Event("input"));
        }""",
        BRIDGE,
    )
    reader.waits_until_done()
    assert [url.rpartition("/")[2] for url in reader.asked_for()] == ["summarize"]
    assert reader.headline() != ""


def test_an_answer_that_comes_late_is_dropped(reader, ferry, server):
    reader.script(
        """const real = window.fetch;
        window.late = [];
        window.fetch = async (...question) => {
          const answer = await real(question[0], { ...question[1], signal: undefined });
          const isFirst = window.late.length === 0;
          await new Promise((go) => { window.late.push(go); if (!isFirst) go(); });
          return answer;
        };"""
    )
    reader.pastes(BRIDGE)
    reader.waits_for(lambda: reader.script("return window.late.length") == 1)
    headline = reader.reads(ferry)
    reader.script("window.late[0]()")
    reader.script("return new Promise((done) => setTimeout(done))")
    assert reader.headline() == headline == server.summarize(ferry)["summary"]


def test_a_new_question_calls_the_old_one_off(reader, ferry):
    reader.script(
        """const real = window.fetch;
        window.signals = [];
        window.fetch = (path, options) => {
          window.signals.push(options.signal);
          return window.signals.length === 1 ? new Promise(() => {}) : real(path, options);
        };"""
    )
    reader.pastes(BRIDGE)
    reader.waits_for(lambda: reader.script("return window.signals.length") == 1)
    reader.reads(ferry)
    assert reader.script("return window.signals.map((each) => each.aborted)") == [True, False]


def test_the_next_best_headlines_stand_below(reader, ferry, server):
    reader.reads(ferry)
    answer = server.summarize(ferry, n_best=5)
    assert len(answer["alternatives"]) == 4
    expected = [each["summary"] for each in answer["alternatives"]]
    assert others(reader) == expected


@pytest.mark.parametrize("most", [3, 6])
def test_a_headline_has_at_most_as_many_words_as_asked(reader, ferry, server, most):
    reader.reads(ferry)
    reader.slides_to(most)
    assert reader.text("#length-value") == f"{most} words"
    reader.waits_until_done()
    words = len(reader.headline().split())
    assert words <= most
    assert all(len(other.split()) <= most for other in others(reader))
    assert reader.headline() == server.summarize(ferry, max_words=most)["summary"]
    assert reader.text("#count").startswith(f"{words} of {most} words")


def test_a_headline_has_at_most_as_many_characters_as_asked(reader, ferry, server):
    reader.reads(ferry)
    reader.one("label[for=unit-characters]").click()
    reader.slides_to(30)
    assert reader.text("#length-value") == "30 characters"
    reader.waits_until_done()
    characters = len(reader.headline())
    assert 0 < characters <= 30
    assert all(len(other) <= 30 for other in others(reader))
    assert reader.headline() == server.summarize(ferry, max_bytes=30)["summary"]
    assert f"{characters} of 30 characters" in reader.text("#count")


def test_each_unit_keeps_its_own_length(reader):
    reader.slides_to(7)
    reader.one("#unit-words").send_keys(Keys.ARROW_RIGHT)
    reader.slides_to(50)
    reader.one("#unit-characters").send_keys(Keys.ARROW_LEFT)
    assert chosen_length(reader) == 7


def test_the_models_of_the_server_can_be_chosen(reader, ferry, server):
    reader.reads(ferry)
    choice = Select(reader.one("#model"))
    names = [each["name"] for each in server.ask("v1/models")["models"]]
    assert [option.text for option in choice.options] == names == ["news", "toy"]
    choice.select_by_value("toy")
    reader.waits_until_done()
    answer = server.summarize(ferry, model="toy", n_best=4, max_words=12)
    assert reader.headline() == answer["summary"]
    assert len(reader.all("#alternatives li")) == 3  # its beam has four
    assert chosen_length(reader) == 12
    assert reader.text("#model-title") == "Toy"


def test_a_model_is_asked_for_no_length_that_the_server_would_refuse(
    person, own_server, tmp_path, ferry
):
    wordy = shutil.copytree(TOY, tmp_path / "wordy")
    run = override(ModelDir.open(TOY).run, {"decode.min_words": 7, "decode.max_words": 100})
    write_model_files(wordy, {RUN_FILE: lambda path: save_run(run, path)})
    server = own_server("--model", wordy)
    person.opens(server)
    Select(person.one("#model")).select_by_value("wordy")
    assert chosen_length(person) == server.ask("v1/models")["limits"]["max_words"] == 64
    assert person.reads(ferry) != ""
    person.one("#length").send_keys(Keys.HOME)
    person.waits_until_done()
    assert chosen_length(person) == 7
    assert not person.sees("#trouble")


def test_a_sample_is_one_click_away(reader):
    sample = reader.one(".chip")
    sample.click()
    reader.waits_until_done()
    assert reader.one("#text").get_property("value") == sample.get_property("value")
    assert reader.headline() != ""


def test_clearing_takes_text_and_headline_away(reader, ferry):
    reader.reads(ferry)
    reader.one("#clear").click()
    reader.waits_until_done()
    assert reader.one("#text").get_property("value") == ""
    assert reader.headline() == ""
    assert reader.text("#silence").startswith("Your headline appears here")
    assert not reader.sees("#why")


def test_a_text_without_a_word_is_answered_in_words(reader):
    assert reader.reads("... !!") == ""
    assert reader.text("#silence") == "There is no word in this text to make a headline of."


def copies(reader, selector: str) -> str:
    """Press a button that copies; say what the clipboard holds, as pasting it shows."""
    reader.one(selector).click()
    said = reader.one("#news")
    reader.waits_for(lambda: said.get_property("textContent").startswith("Copied: "))
    reader.one("#text").send_keys(Keys.CONTROL, "av")
    pasted = reader.one("#text").get_property("value")
    assert said.get_property("textContent") == f"Copied: {pasted}"
    return pasted


def test_the_headline_is_copied(reader, ferry):
    headline = reader.reads(ferry)
    assert copies(reader, "#copy") == headline


def test_a_button_says_for_a_moment_that_it_has_copied(reader, ferry):
    reader.reads(ferry)
    reader.script(
        """const button = document.getElementById("copy");
        window.labels = [];
        new MutationObserver(() => window.labels.push(button.textContent))
          .observe(button, { childList: true });"""
    )
    reader.one("#copy").click()
    labels = ["Copied", "Copy headline"]
    reader.waits_for(lambda: reader.script("return window.labels") == labels)


def test_each_of_the_others_is_copied_by_its_own_button(reader, ferry):
    reader.reads(ferry)
    second = others(reader)[1]
    assert copies(reader, "#alternatives li:nth-child(2) button") == second


def test_a_page_without_a_clipboard_copies_the_old_way(reader, ferry):
    headline = reader.reads(ferry)
    reader.script("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    assert copies(reader, "#copy") == headline
