"""``report.html`` in a real browser: does it open whole, without the network, on a phone and in the dark?"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from lapwing.pipeline.report import draw
from lapwing.pipeline.report.conftest import write_tables

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("report")
    write_tables(out, devices=12, minutes=3, tiles=200, trouble=True)
    draw(out, credit="nobody")
    # Moved away from its pictures: it must not need them.
    return shutil.copy(out / "report.html", tmp_path_factory.mktemp("elsewhere") / "report.html")


@pytest.fixture(scope="module")
def browser() -> Iterator[object]:
    assert CHROMIUM, "Chromium is missing: run `make interop-clients`, which installs it"
    with playwright.sync_playwright() as running:
        yield running.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1400])
def test_it_opens_whole(browser: object, report: Path, scheme: str, width: int) -> None:
    page = browser.new_page(color_scheme=scheme, viewport={"width": width, "height": 900})  # type: ignore[attr-defined]
    asked: list[str] = []
    complaints: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(report.as_uri())

    assert [url for url in asked if not url.startswith("data:")] == [report.as_uri()]
    assert not complaints
    assert page.eval_on_selector_all("img", "all => all.map(i => i.naturalWidth)") == [2400] * 3
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "the page scrolls sideways"
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(20, 25, 31)"
    assert dark == (scheme == "dark")
    assert [h.inner_text() for h in page.query_selector_all("h2")] == [
        "Coverage",
        "Latency",
        "Loss",
        "Tables",
    ]
    page.close()
