"""What strangers paste is shown as text, and what goes wrong is said in words."""

import pytest
from selenium.webdriver.common.keys import Keys

pytestmark = pytest.mark.slow

HOSTILE = '<img src=x onerror="window.hacked = 1"><script>window.hacked = 1</script>'
ANSWER_WITH = """
  const [status, headers, body] = arguments;
  const real = window.fetch;
  window.fetch = async () => {
    window.fetch = real;
    return new Response(JSON.stringify(body), { status, headers });
  };
"""


def hostile_answer() -> dict[str, object]:
    word = {"surface": HOSTILE, "start": 0, "end": len(HOSTILE), "form": HOSTILE}
    written = {**word, "origin": "copied", "source": 0, "probability": 1.0, "attention": [1.0]}
    story = {
        "importance_kind": "movement",
        "source": [{**word, "importance": 1.0, "shade": 1.0}],
        "words": [written, {**written, "surface": "", "start": len(HOSTILE)}],
    }
    result = {
        "summary": HOSTILE,
        "truncated": False,
        "alternatives": [{"summary": HOSTILE, "score": 0.0}],
        "explanation": story,
    }
    return {"model": HOSTILE, "results": [result]}


def assert_nothing_ran(person) -> None:
    assert person.script("return window.hacked") is None
    assert person.all("img, main script") == []


def test_pasted_markup_is_shown_as_text(reader):
    reader.reads(f"Police said on Monday that {HOSTILE} was found near the old bridge in Ghent.")
    assert HOSTILE.replace("  ", " ") in reader.text("#reading")
    assert_nothing_ran(reader)


def test_markup_in_an_answer_is_shown_as_text(reader):
    reader.script(ANSWER_WITH, 200, {}, hostile_answer())
    assert reader.reads(HOSTILE) == HOSTILE
    reader.one("summary").click()
    reader.waits_for(lambda: reader.all("td"))
    reader.one("#headline button").click()
    assert HOSTILE in reader.text("#said").replace("\u2068", "").replace("\u2069", "")
    assert reader.text("#alternatives li span") == HOSTILE
    assert_nothing_ran(reader)


def test_markup_in_an_error_is_shown_as_text(reader, ferry):
    reader.script(ANSWER_WITH, 422, {}, {"error": {"message": HOSTILE}})
    reader.reads(ferry)
    assert reader.text("#trouble-what") == HOSTILE
    assert_nothing_ran(reader)


def test_a_visit_asks_nobody_but_the_server(reader, server):
    reader.one(".chip").click()
    reader.waits_until_done()
    reader.one("summary").click()
    reader.one("#copy").click()
    reader.one("#theme").click()
    addresses = [url.removeprefix(server.url) for url in reader.asked_for()]
    assert set(addresses) >= {"", "static/page.css", "static/page.js", "v1/models", "v1/summarize"}
    assert [address for address in addresses if "://" in address] == []
    assert reader.errors() == []


def test_a_server_that_stops_and_comes_back(person, own_server, ferry):
    person.expected_errors = [
        "ERR_CONNECTION_REFUSED",
        "ERR_CONNECTION_RESET",
        "ERR_EMPTY_RESPONSE",
    ]
    server = own_server()
    person.opens(server)
    before = person.reads(ferry)
    server.stop()
    person.types(" More words are written now.")
    person.waits_for(lambda: person.sees("#trouble"))
    assert person.text("#trouble-what") == "The server does not answer. Your text is kept here."
    assert person.one("#text").get_property("value").endswith("More words are written now.")
    assert person.headline() == before
    assert person.text("#result-title") == "Headline of an earlier text"
    server.start()
    person.waits_for(lambda: not person.sees("#trouble"))
    whole = person.one("#text").get_property("value")
    assert person.headline() == server.summarize(whole)["summary"]
    assert person.text("#result-title") == "Headline"


def test_a_page_whose_server_is_not_ready_waits_for_it(person, server, ferry):
    person.expected_errors = ["ERR_BLOCKED_BY_CLIENT"]
    person.loses_the_server()
    person.goes_to(server)
    person.waits_for(lambda: person.sees("#trouble"))
    assert person.all("#model option") == []
    person.finds_the_server_again()
    person.one("#retry").click()
    person.waits_for(lambda: not person.sees("#trouble"))
    assert person.reads(ferry) != ""


def test_a_busy_server_is_asked_again(reader, ferry, server):
    busy = {"error": {"message": "The queue is full; try again."}}
    reader.script(ANSWER_WITH, 503, {"Retry-After": "3600"}, busy)
    reader.reads(ferry)
    assert reader.text("#trouble-what") == "The queue is full; try again."
    assert reader.text("#trouble-next").startswith("Trying again in 3")
    reader.one("#retry").click()
    reader.waits_for(lambda: not reader.sees("#trouble"))
    assert reader.headline() == server.summarize(ferry)["summary"]


def test_a_text_beyond_the_limit_is_not_sent(reader, ferry, server):
    most = server.ask("v1/models")["limits"]["max_chars"]
    reader.asked_for()
    reader.reads("a" * (most + 1))
    expected = f"1 character too many: this server reads at most {most:,}."
    assert reader.text("#room") == reader.text("#silence") == expected
    assert reader.one("#text").get_attribute("aria-invalid") == "true"
    assert reader.asked_for() == []
    assert reader.reads(ferry) != ""
    assert reader.text("#room") == f"{most - len(ferry):,} characters left"


def test_an_answer_that_cannot_be_understood_is_said_in_words(reader, ferry):
    reader.expected_errors = ["console-api", "page.js"]
    reader.script(ANSWER_WITH, 200, {}, {"unexpected": True})
    reader.reads(ferry)
    assert reader.text("#trouble-what").startswith("This page and the server do not understand")


def test_a_server_with_a_key_is_told_it(person, own_server, tmp_path, ferry):
    person.expected_errors = ["401"]
    keys = tmp_path / "keys"
    keys.write_text("a-key-of-thirty-two-characters-ab\n")
    person.goes_to(own_server("--api-key-file", keys))
    person.waits_for(lambda: person.sees("#key-form"))
    assert person.text("#key-said") == "This server asks for a key."
    person.presses("wrong", Keys.ENTER)
    person.waits_for(lambda: person.text("#key-said") == "The server does not know this key.")
    person.one("#key").clear()
    person.one("#key").send_keys("a-key-of-thirty-two-characters-ab", Keys.ENTER)
    person.waits_for(lambda: not person.sees("#key-form"))
    assert person.reads(ferry) != ""
