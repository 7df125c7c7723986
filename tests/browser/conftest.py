"""Server and browser for tests of the web page."""

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
from programs import require_programs
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
TIMEOUT_S = 60  # of one wait; a busy machine with two processors needs some
FERRY = (
    "Fire crews in the port city of Ostend rescued 14 people from a burning ferry on Tuesday "
    "evening after an explosion in the engine room, the coast guard said."
)


class Server:
    """Process of `readagain serve` that can be stopped and restarted."""

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
        line = self._process.stdout.readline()
        assert line.startswith("readagain serve: http://127.0.0.1:"), line
        self.url = line.split()[-1] + "/"

    def stop(self) -> None:
        if self._process is not None:
            self._process.terminate()
            self._process.communicate(timeout=TIMEOUT_S)
            self._process = None

    def ask(self, path: str, body: dict[str, Any] | None = None) -> Any:
        """Send a request without the browser."""
        data = None if body is None else json.dumps(body).encode()
        request = Request(self.url + path, data, {"Content-Type": "application/json"})
        with urlopen(request, timeout=TIMEOUT_S) as answer:
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
    """Return an invented short text with names and a number."""
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
    """Start a server for one test, with the small model, which loads fast."""
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
    """Start Chromium once; it cannot reach other machines and logs all requests."""
    require_programs("chromium", "chromedriver")
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
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
    environment = {**os.environ, "SE_OFFLINE": "true"}
    service = Service(shutil.which("chromedriver"), env=environment)
    chromium = webdriver.Chrome(options, service)
    chromium.set_script_timeout(TIMEOUT_S)
    yield chromium
    chromium.quit()


class Page:
    """Open page: actions, visible state, and logs of the browser."""

    def __init__(self, browser: webdriver.Chrome) -> None:
        self.browser = browser
        self.expected_errors: list[str] = []
        self._origin = ""

    # Actions.

    def open_url(self, url: str) -> None:
        """Open another page than that of the server."""
        self._origin = url
        self.browser.get(url)

    def go_to(self, server: Server) -> None:
        self._origin = server.url
        everything = {"origin": server.url, "storageTypes": "all"}
        self.browser.execute_cdp_cmd("Storage.clearDataForOrigin", everything)
        self.browser.get(server.url)

    def open_server(self, server: Server) -> None:
        """Open the page and wait until it is ready."""
        self.go_to(server)
        self.wait_for(lambda: self.find_all("#model option"))

    def reload(self) -> None:
        self.browser.refresh()
        self.wait_for(lambda: self.find_all("#model option"))

    def type_text(self, words: str) -> None:
        self.find("#text").send_keys(words)

    def paste(self, words: str) -> None:
        """Replace the text."""
        self.find("#text").send_keys(Keys.CONTROL, "a")
        self.browser.execute_cdp_cmd("Input.insertText", {"text": words})

    def summarize(self, words: str) -> str:
        """Paste a text and wait for its headline."""
        self.paste(words)
        self.wait_until_done()
        return self.headline()

    def press(self, *keys: str) -> None:
        ActionChains(self.browser).send_keys(*keys).perform()

    def hover(self, element: WebElement) -> None:
        ActionChains(self.browser).move_to_element(element).perform()

    def set_length(self, value: int) -> None:
        """Move the length slider with the keyboard."""
        slider = self.find("#length")
        steps = value - int(slider.get_property("value"))
        slider.send_keys((Keys.ARROW_RIGHT if steps > 0 else Keys.ARROW_LEFT) * abs(steps))
        assert slider.get_property("value") == str(value)

    def set_screen(self, width: int, height: int, *, scale: int = 1) -> None:
        size = {"width": width, "height": height, "deviceScaleFactor": scale}
        is_phone = {"mobile": width < 600}
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size | is_phone)

    def set_preferences(self, **features: str) -> None:
        """Set media preferences, such as color_scheme="dark"."""
        preferences = [
            {"name": f"prefers-{name.replace('_', '-')}", "value": value}
            for name, value in features.items()
        ]
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": preferences})

    def block_server(self) -> None:
        """Block all requests; the console shows ERR_BLOCKED_BY_CLIENT for each."""
        self._block("*/v1/*")

    def unblock_server(self) -> None:
        self._block()

    def _block(self, *urls: str) -> None:
        self.browser.execute_cdp_cmd("Network.enable", {})
        self.browser.execute_cdp_cmd("Network.setBlockedURLs", {"urls": urls})

    # Visible state.

    def find_all(self, selector: str) -> list[WebElement]:
        return self.browser.find_elements(By.CSS_SELECTOR, selector)

    def find(self, selector: str) -> WebElement:
        return self.browser.find_element(By.CSS_SELECTOR, selector)

    def is_visible(self, selector: str) -> bool:
        return self.find(selector).is_displayed()

    def text(self, selector: str) -> str:
        return self.find(selector).text

    def headline(self) -> str:
        return self.text("#headline").replace("\n", " ")

    def style(self, selector: str, name: str) -> str:
        return self.find(selector).value_of_css_property(name)

    def script(self, code: str, *arguments: object) -> Any:
        return self.browser.execute_script(code, *arguments)

    def overflows_horizontally(self) -> bool:
        """Return whether anything is wider than the screen, or cut off at its edge."""
        return self.script(
            "return [document.documentElement, ...document.querySelectorAll('section')]"
            ".some((each) => each.scrollWidth > each.clientWidth)"
        )

    def accessibility_violations(self) -> list[str]:
        """Return the serious and critical violations that axe-core finds."""
        axe = Axe(self.browser)
        axe.inject()
        return [
            f"{rule['id']}: {node['target']}"
            for rule in axe.run()["violations"]
            if rule["impact"] in ("serious", "critical")
            for node in rule["nodes"]
        ]

    def wait_for(self, condition: Callable[[], Any]) -> Any:
        wait = WebDriverWait(self.browser, TIMEOUT_S, poll_frequency=0.05)
        return wait.until(lambda _: condition())

    def wait_until_done(self) -> None:
        """Wait until the page shows the latest response."""
        self.wait_for(lambda: self.find("#result").get_attribute("aria-busy") == "false")

    # Logs.

    def errors(self) -> list[str]:
        """Return and clear the errors and warnings of the console."""
        entries = self.browser.get_log("browser")
        return [each["message"] for each in entries if each["level"] in ("SEVERE", "WARNING")]

    def requested_urls(self) -> list[str]:
        """Return and clear the requested URLs."""
        events = [json.loads(entry["message"])["message"] for entry in self._performance()]
        sent = [each["params"] for each in events if each["method"] == "Network.requestWillBeSent"]
        return [each["request"]["url"] for each in sent]

    def _performance(self) -> list[dict[str, Any]]:
        return self.browser.get_log("performance")

    def check_clean(self) -> None:
        """Check that there were no errors, and no requests to other servers."""
        unexpected = [
            message
            for message in self.errors()
            if not any(expected in message for expected in self.expected_errors)
        ]
        assert unexpected == []
        elsewhere = [url for url in self.requested_urls() if not url.startswith(self._origin)]
        assert elsewhere == []


@pytest.fixture
def page(browser) -> Iterator[Page]:
    """Return a new tab with a desktop screen and light colours."""
    browser.switch_to.new_window("tab")
    each = Page(browser)
    each.set_screen(1280, 860)
    each.set_preferences(color_scheme="light")
    each.errors()
    each.requested_urls()
    yield each
    try:
        each.check_clean()
    finally:
        browser.close()
        browser.switch_to.window(browser.window_handles[0])


@pytest.fixture
def home_page(page, server) -> Page:
    """Return the page of the shared server."""
    page.open_server(server)
    return page
