"""Markup in texts, and errors of the server."""

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


def assert_nothing_ran(page) -> None:
    assert page.script("return window.hacked") is None
    assert page.find_all("img, main script") == []


def test_markup_in_text_is_escaped(home_page):
    home_page.summarize(
        f"Police said on Monday that {HOSTILE} was found near the old bridge in Ghent."
    )
    assert HOSTILE.replace("  ", " ") in home_page.text("#reading")
    assert_nothing_ran(home_page)


def test_markup_in_response_is_escaped(home_page):
    home_page.script(ANSWER_WITH, 200, {}, hostile_answer())
    assert home_page.summarize(HOSTILE) == HOSTILE
    home_page.find("summary").click()
    home_page.wait_for(lambda: home_page.find_all("td"))
    home_page.find("#headline button").click()
    assert HOSTILE in home_page.text("#description").replace("\u2068", "").replace("\u2069", "")
    assert home_page.text("#alternatives li span") == HOSTILE
    assert_nothing_ran(home_page)


def test_markup_in_error_is_escaped(home_page, ferry):
    home_page.script(ANSWER_WITH, 422, {}, {"error": {"message": HOSTILE}})
    home_page.summarize(ferry)
    assert home_page.text("#error-message") == HOSTILE
    assert_nothing_ran(home_page)


def test_page_requests_only_its_server(home_page, server):
    home_page.find(".chip").click()
    home_page.wait_until_done()
    home_page.find("summary").click()
    home_page.find("#copy").click()
    home_page.find("#theme").click()
    addresses = [url.removeprefix(server.url) for url in home_page.requested_urls()]
    assert set(addresses) >= {"", "static/page.css", "static/page.js", "v1/models", "v1/summarize"}
    assert [address for address in addresses if "://" in address] == []
    assert home_page.errors() == []


def test_page_recovers_after_server_restart(page, own_server, ferry):
    page.expected_errors = [
        "ERR_CONNECTION_REFUSED",
        "ERR_CONNECTION_RESET",
        "ERR_EMPTY_RESPONSE",
    ]
    server = own_server()
    page.open_server(server)
    before = page.summarize(ferry)
    server.stop()
    page.type_text(" More words are written now.")
    page.wait_for(lambda: page.is_visible("#error"))
    assert page.text("#error-message") == "The server is not responding. Your text is not lost."
    assert page.find("#text").get_property("value").endswith("More words are written now.")
    assert page.headline() == before
    assert page.text("#result-title") == "Headline of the previous text"
    server.start()
    page.wait_for(lambda: not page.is_visible("#error"))
    whole = page.find("#text").get_property("value")
    assert page.headline() == server.summarize(whole)["summary"]
    assert page.text("#result-title") == "Headline"


def test_page_waits_for_server(page, server, ferry):
    page.expected_errors = ["ERR_BLOCKED_BY_CLIENT"]
    page.block_server()
    page.go_to(server)
    page.wait_for(lambda: page.is_visible("#error"))
    assert page.find_all("#model option") == []
    page.unblock_server()
    page.find("#retry").click()
    page.wait_for(lambda: not page.is_visible("#error"))
    assert page.summarize(ferry) != ""


def test_busy_server_is_retried(home_page, ferry, server):
    busy = {"error": {"message": "The queue is full; try again."}}
    home_page.script(ANSWER_WITH, 503, {"Retry-After": "3600"}, busy)
    home_page.summarize(ferry)
    assert home_page.text("#error-message") == "The queue is full; try again."
    assert home_page.text("#error-retry").startswith("Retrying in 3")
    home_page.find("#retry").click()
    home_page.wait_for(lambda: not home_page.is_visible("#error"))
    assert home_page.headline() == server.summarize(ferry)["summary"]


def test_long_text_is_cut(home_page, ferry, server):
    most = server.ask("v1/models")["limits"]["max_chars"]
    assert home_page.summarize(ferry + " " + "a" * most) != ""
    assert home_page.text("#room") == f"Only the first {most:,} characters are sent."
    assert home_page.summarize(ferry) != ""
    assert home_page.text("#room") == f"{most - len(ferry):,} characters left"


def test_invalid_response_shows_message(home_page, ferry):
    home_page.expected_errors = ["console-api", "page.js"]
    home_page.script(ANSWER_WITH, 200, {}, {"unexpected": True})
    home_page.summarize(ferry)
    assert home_page.text("#error-message").startswith("The response of the server is invalid")


def test_page_prompts_for_api_key(page, own_server, tmp_path, ferry):
    page.expected_errors = ["401"]
    keys = tmp_path / "keys"
    keys.write_text("a-key-of-thirty-two-characters-ab\n")
    page.go_to(own_server("--api-key-file", keys))
    page.wait_for(lambda: page.is_visible("#key-form"))
    assert page.text("#key-label") == "This server requires an API key."
    page.press("wrong", Keys.ENTER)
    page.wait_for(lambda: page.text("#key-label") == "The API key is invalid.")
    page.find("#key").clear()
    page.find("#key").send_keys("a-key-of-thirty-two-characters-ab", Keys.ENTER)
    page.wait_for(lambda: not page.is_visible("#key-form"))
    assert page.summarize(ferry) != ""
