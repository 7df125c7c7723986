"""A server, Debian's Chromium, and a person who uses the page in it."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import WebDriverWait
from selenium_axe_python import Axe

from readagain import Summarizer
from readagain.explain.page import explanation_page
from readagain.explain.view import explanation_view

TOY = Path(__file__).parents[1] / "assets" / "models" / "toy"
PATIENCE_S = 60  # of one wait; a busy machine with two processors needs some
FERRY = (
    "Fire crews in the port city of Ostend rescued 14 people from a burning ferry on Tuesday "
    "evening after an explosion in the engine room, the coast guard said."
)


class Server:
    """`readagain serve` in a process of its own, which can be stopped and started again."""

    def __init__(self, *options: object) -> None:
        self._options = options
        self._process: subprocess.Popen[str] | None = None
        self.url = ""

    def start(self) -> None:
        port = self.url.rstrip("/").rpartition(":")[2] or 0
        command = [sys.executable, "-m", "readagain", "serve", "--port", port, *self._options]
        self._process = subprocess.Popen(
            [str(each) for each in command],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert self._process.stdout is not None
        said = self._process.stdout.readline()
        assert said.startswith("readagain serve: http://127.0.0.1:"), said
        self.url = said.split()[-1] + "/"

    def stop(self) -> None:
        if self._process is not None:
            self._process.terminate()
            self._process.communicate(timeout=PATIENCE_S)
            self._process = None

    def ask(self, path: str, body: dict[str, Any] | None = None) -> Any:
        """Ask the server as any other client does."""
        data = None if body is None else json.dumps(body).encode()
        request = Request(self.url + path, data, {"Content-Type": "application/json"})
        with urlopen(request, timeout=PATIENCE_S) as answer:
            return json.load(answer)

    def summarize(self, text: str, **options: object) -> Any:
        return self.ask("v1/summarize", {"texts": [text], **options})["results"][0]


@contextmanager
def running(*options: object) -> Iterator[Server]:
    server = Server(*options)
    server.start()
    try:
        yield server
    finally:
        server.stop()


@pytest.fixture(scope="session")
def ferry() -> str:
    """A text that most tests are happy with: invented, short, with names and a number."""
    return FERRY


@pytest.fixture(scope="session")
def explanation(tmp_path_factory, ferry) -> str:
    """Write an explanation to a file, as `readagain explain --html` does."""
    summary = Summarizer.load("news", threads=1).summarize(ferry, explain=True)
    path = tmp_path_factory.mktemp("explain") / "page.html"
    path.write_text(
        explanation_page(explanation_view(ferry, summary, model="news")), encoding="utf-8"
    )
    return path.as_uri()


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """Serve the default model and a small one, for all tests."""
    with running("--model", "news", "--model", TOY) as each:
        yield each


@pytest.fixture
def own_server() -> Iterator[Callable[..., Server]]:
    """Start a server for one test: with the small model, since it starts fastest."""
    started: list[Server] = []

    def start(*options: object) -> Server:
        started.append(Server("--model", TOY, *options))
        started[-1].start()
        return started[-1]

    yield start
    for each in started:
        each.stop()


@pytest.fixture(scope="session")
def browser(tmp_path_factory) -> Iterator[webdriver.Chrome]:
    """Start Chromium once: it keeps to this machine, and writes down all that it asks for."""
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or "/usr/bin/chromium"
    for argument in (
        "--headless=new",
        "--no-sandbox",  # tests may run as root
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--disable-background-networking",
        "--hide-scrollbars",
        "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
        f"--user-data-dir={tmp_path_factory.mktemp('chromium')}",
    ):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = shutil.which("chromedriver") or "/usr/bin/chromedriver"
    chromium = webdriver.Chrome(options, Service(driver, env={**os.environ, "SE_OFFLINE": "true"}))
    chromium.set_script_timeout(PATIENCE_S)
    yield chromium
    chromium.quit()


class Person:
    """Somebody who has opened the page: what they do, and what they see."""

    def __init__(self, browser: webdriver.Chrome) -> None:
        self.browser = browser
        self.expected_errors: list[str] = []
        self._origin = ""

    # What they do.

    def reads_page(self, url: str) -> None:
        """Open a page that is not the one of the server."""
        self._origin = url
        self.browser.get(url)

    def goes_to(self, server: Server) -> None:
        self._origin = server.url
        everything = {"origin": server.url, "storageTypes": "all"}
        self.browser.execute_cdp_cmd("Storage.clearDataForOrigin", everything)
        self.browser.get(server.url)

    def opens(self, server: Server) -> None:
        """Go to the page and wait until it can be used."""
        self.goes_to(server)
        self.waits_for(lambda: self.all("#model option"))

    def reloads(self) -> None:
        self.browser.refresh()
        self.waits_for(lambda: self.all("#model option"))

    def types(self, words: str) -> None:
        self.one("#text").send_keys(words)

    def pastes(self, words: str) -> None:
        """Put a text in place of the one that is there."""
        self.one("#text").send_keys(Keys.CONTROL, "a")
        self.browser.execute_cdp_cmd("Input.insertText", {"text": words})

    def reads(self, words: str) -> str:
        """Paste a text and wait for its headline."""
        self.pastes(words)
        self.waits_until_done()
        return self.headline()

    def presses(self, *keys: str) -> None:
        ActionChains(self.browser).send_keys(*keys).perform()

    def points_at(self, element: WebElement) -> None:
        ActionChains(self.browser).move_to_element(element).perform()

    def slides_to(self, value: int) -> None:
        """Move the length slider with the keyboard."""
        slider = self.one("#length")
        steps = value - int(slider.get_property("value"))
        slider.send_keys((Keys.ARROW_RIGHT if steps > 0 else Keys.ARROW_LEFT) * abs(steps))
        assert slider.get_property("value") == str(value)

    def has_a_screen(self, width: int, height: int, *, scale: int = 1) -> None:
        size = {"width": width, "height": height, "deviceScaleFactor": scale}
        is_phone = {"mobile": width < 600}
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size | is_phone)

    def prefers(self, **features: str) -> None:
        """Set what the system says about a person: prefers(color_scheme="dark")."""
        wishes = [
            {"name": f"prefers-{name.replace('_', '-')}", "value": value}
            for name, value in features.items()
        ]
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": wishes})

    def loses_the_server(self) -> None:
        """Let no request come through; the console says ERR_BLOCKED_BY_CLIENT about each."""
        self._block("*/v1/*")

    def finds_the_server_again(self) -> None:
        self._block()

    def _block(self, *urls: str) -> None:
        self.browser.execute_cdp_cmd("Network.enable", {})
        self.browser.execute_cdp_cmd("Network.setBlockedURLs", {"urls": urls})

    # What they see.

    def all(self, selector: str) -> list[WebElement]:
        return self.browser.find_elements(By.CSS_SELECTOR, selector)

    def one(self, selector: str) -> WebElement:
        return self.browser.find_element(By.CSS_SELECTOR, selector)

    def sees(self, selector: str) -> bool:
        return self.one(selector).is_displayed()

    def text(self, selector: str) -> str:
        return self.one(selector).text

    def headline(self) -> str:
        return self.text("#headline").replace("\n", " ")

    def style(self, selector: str, name: str) -> str:
        return self.one(selector).value_of_css_property(name)

    def script(self, code: str, *arguments: object) -> Any:
        return self.browser.execute_script(code, *arguments)

    def must_scroll_sideways(self) -> bool:
        """Say whether anything is wider than the screen, or cut off at its edge."""
        return self.script(
            "return [document.documentElement, ...document.querySelectorAll('section')]"
            ".some((each) => each.scrollWidth > each.clientWidth)"
        )

    def violations(self) -> list[str]:
        """List what axe-core finds serious or critical for people who cannot see or point."""
        axe = Axe(self.browser)
        axe.inject()
        return [
            f"{rule['id']}: {node['target']}"
            for rule in axe.run()["violations"]
            if rule["impact"] in ("serious", "critical")
            for node in rule["nodes"]
        ]

    def waits_for(self, happens: Callable[[], Any]) -> Any:
        wait = WebDriverWait(self.browser, PATIENCE_S, poll_frequency=0.05)
        return wait.until(lambda _: happens())

    def waits_until_done(self) -> None:
        """Wait until the page shows the answer to all that was asked so far."""
        self.waits_for(lambda: self.one("#result").get_attribute("aria-busy") == "false")

    # What happens behind the page.

    def errors(self) -> list[str]:
        """List what the console complains about, and forget it."""
        entries = self.browser.get_log("browser")
        return [each["message"] for each in entries if each["level"] in ("SEVERE", "WARNING")]

    def asked_for(self) -> list[str]:
        """List the addresses that were asked for since the last look."""
        events = [json.loads(entry["message"])["message"] for entry in self._performance()]
        sent = [each["params"] for each in events if each["method"] == "Network.requestWillBeSent"]
        return [each["request"]["url"] for each in sent]

    def _performance(self) -> list[dict[str, Any]]:
        return self.browser.get_log("performance")

    def leaves(self) -> None:
        """Check that the page had no errors, and asked nobody but its server."""
        unexpected = [
            message
            for message in self.errors()
            if not any(expected in message for expected in self.expected_errors)
        ]
        assert unexpected == []
        elsewhere = [url for url in self.asked_for() if not url.startswith(self._origin)]
        assert elsewhere == []


@pytest.fixture
def person(browser) -> Iterator[Person]:
    """Give a person a fresh start: a new tab, a desktop's screen, light colours."""
    browser.switch_to.new_window("tab")
    each = Person(browser)
    each.has_a_screen(1280, 860)
    each.prefers(color_scheme="light")
    each.errors()
    each.asked_for()
    yield each
    try:
        each.leaves()
    finally:
        browser.close()
        browser.switch_to.window(browser.window_handles[0])


@pytest.fixture
def reader(person, server) -> Person:
    """Let a person open the page of the shared server."""
    person.opens(server)
    return person
