"""Does a page with MQTT.js talk to the broker over secure WebSockets, and a page of another origin not?"""

from __future__ import annotations

import functools
import shutil
import threading
from collections.abc import Callable, Iterable, Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

import pytest
from certificates import Certificates
from playwright.sync_api import Browser, Page, expect, sync_playwright

import lapwing

HERE = Path(__file__).parent
MQTT_JS = HERE.parent / "interop" / "node_modules" / "mqtt" / "dist" / "mqtt.min.js"
TIMEOUT_MS = 30_000
ELSEWHERE = "elsewhere.test"
"""A name that this browser finds on loopback."""
_ASK = "async ([url, mode]) => { try { return (await fetch(url, {mode})).type } catch (error) { return error.name } }"
Publish = Callable[[str, Iterable[tuple[str, bytes]]], None]


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        """Says nothing: the test's output is the test's."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """The port that serves the page, on loopback: as localhost and as `ELSEWHERE`, two origins."""
    assert MQTT_JS.exists(), "MQTT.js is missing: run `make interop-clients`"
    folder = tmp_path_factory.mktemp("site")
    for file in (HERE / "page.html", HERE / "page.js"):
        shutil.copy(file, folder)
    shutil.copy(MQTT_JS, folder / "mqtt.js")
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Quiet, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server.server_port
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return Certificates.make(tmp_path_factory.mktemp("certificates"))


@pytest.fixture(scope="module")
def browser(certificates: Certificates) -> Iterator[Browser]:
    """Chromium, told to take the server's one key although no authority that it knows vouches for it."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    assert chromium, "Chromium is missing: run `make interop-clients`, which installs it"
    pin = f"--ignore-certificate-errors-spki-list={certificates.pin()}"
    with sync_playwright() as running:
        names = f"--host-resolver-rules=MAP {ELSEWHERE} 127.0.0.1"
        started = running.chromium.launch(executable_path=chromium, args=["--no-sandbox", pin, names])
        yield started
        started.close()


@pytest.fixture(scope="module")
def broker(certificates: Certificates, site: int) -> Iterator[lapwing.Broker]:
    """A broker that takes pages of http://localhost, and a plain listener for a client that is no page."""
    listener = {
        "url": "wss://127.0.0.1:0",
        "certificate": str(certificates.chain),
        "key": str(certificates.key),
        "origins": [f"http://localhost:{site}"],
    }
    devices = {"url": "sn://127.0.0.1:0"}
    with lapwing.Broker(listeners=[{"url": "tcp://127.0.0.1:0"}, listener, devices], shards=2) as broker:
        yield broker


def _open(browser: Browser, host: str, site: int, broker: lapwing.Broker, version: int) -> Page:
    page = browser.new_page()
    given = {"url": _wss(broker), "version": version, "filter": f"pages/{version}/#"}
    page.goto(f"http://{host}:{site}/page.html?{urlencode(given)}")
    return page


def _wss(broker: lapwing.Broker) -> str:
    port = next(urlsplit(url).port for url in broker.urls if url.startswith("wss:"))
    return f"wss://localhost:{port}/mqtt"


@pytest.mark.parametrize("version", [4, 5])
def test_it_shows_what_is_published(
    browser: Browser, site: int, broker: lapwing.Broker, publish: Publish, version: int
) -> None:
    """Does the page show what others, a device of MQTT-SN among them, and it itself publish, at each QoS?"""
    page = _open(browser, "localhost", site, broker, version)
    expect(page.locator("#state")).to_have_text("subscribed", timeout=TIMEOUT_MS)
    publish(broker.url, [(f"pages/{version}/other", "von \N{SNOWMAN} anderen".encode())])
    expected = [f"pages/{version}/other at QoS 1: von \N{SNOWMAN} anderen"]
    expect(page.locator("#messages li")).to_have_text(expected, timeout=TIMEOUT_MS)
    with lapwing.Client(next(url for url in broker.urls if url.startswith("sn:"))) as device:
        device.publish(f"pages/{version}/device", "20.5", qos=2)
        device.flush()
    expected.append(f"pages/{version}/device at QoS 2: 20.5")
    expect(page.locator("#messages li")).to_have_text(expected, timeout=TIMEOUT_MS)
    for qos in range(3):
        page.fill("[name=topic]", f"pages/{version}/own")
        page.fill("[name=text]", f"number {qos}")
        page.select_option("[name=qos]", str(qos))
        page.click("button")
        expected.append(f"pages/{version}/own at QoS {qos}: number {qos}")
        expect(page.locator("#messages li")).to_have_text(expected, timeout=TIMEOUT_MS)
        expect(page.locator("#sent")).to_have_text(str(qos + 1), timeout=TIMEOUT_MS)
    page.close()


def test_a_page_of_another_origin_is_refused(browser: Browser, site: int, broker: lapwing.Broker) -> None:
    """Does the same page get no connection, served under another name than localhost, which is allowed?"""
    page = _open(browser, ELSEWHERE, site, broker, 5)
    expect(page.locator("#state")).to_have_text("refused", timeout=TIMEOUT_MS)
    page.close()


def test_names_of_loopback_are_one_origin(browser: Browser, site: int, broker: lapwing.Broker) -> None:
    """Does the page work from 127.0.0.1 too where localhost is allowed?"""
    page = _open(browser, "127.0.0.1", site, broker, 5)
    expect(page.locator("#state")).to_have_text("subscribed", timeout=TIMEOUT_MS)
    page.close()


def test_a_page_moves_no_reader_and_sees_no_answer(browser: Browser, site: int) -> None:
    """Another site's page asks for a stream over HTTP: does the browser keep the answer, and is a link followed?"""
    with lapwing.Broker(listen="tcp://127.0.0.1:0", http="127.0.0.1:0", streams={"readings": "#"}) as broker:
        stream = f"{broker.http_url}/v1/streams/readings"
        page = browser.new_page()
        page.goto(f"http://{ELSEWHERE}:{site}/page.html")
        for mode in ("no-cors", "cors"):
            told = page.evaluate(_ASK, [f"{stream}/0?from=0&reader=evil", mode])
            assert told == "TypeError", mode
        page.close()
        person = browser.new_page()
        person.goto(f"http://{ELSEWHERE}:{site}/page.html")
        person.evaluate("url => { location.href = url }", stream)
        person.wait_for_url(stream, timeout=TIMEOUT_MS)
        assert '"readers":[]' in person.content().replace(" ", "")
        person.close()
