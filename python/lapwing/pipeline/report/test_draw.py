"""The report as a whole: complete, self-contained, and sensible for little and for much."""

from __future__ import annotations

import re
import resource
import signal
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest
from matplotlib.image import imread, imsave

from lapwing.pipeline.report import draw
from lapwing.pipeline.report.conftest import MakeTables
from lapwing.pipeline.report.freshness_facts import FreshnessRule
from lapwing.pipeline.report.style import LIGHT, Scheme
from lapwing.pipeline.report.tables import ReportError

NAMES = ["coverage.png", "latency.png", "loss.png", "report.html"]


class Links(HTMLParser):
    """Every address in a page, and every picture without a text."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.silent = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = dict(attrs)
        self.addresses += [value or "" for name, value in attrs if name in ("src", "srcset", "href")]
        self.silent += tag == "img" and not named.get("alt")


@pytest.mark.parametrize(
    "settings",
    [
        {"devices": 1, "minutes": 1, "tiles": 1, "readings": 1},
        pytest.param({"devices": 3, "minutes": 2, "tiles": 3}, marks=pytest.mark.nightly),
        pytest.param({"devices": 40, "minutes": 30, "tiles": 300, "trouble": True}, marks=pytest.mark.nightly),
        {"devices": 400, "minutes": 2, "tiles": 8_000, "trouble": True},
        {"devices": 0, "minutes": 0, "tiles": 0, "readings": 0},
    ],
    ids=["one", "few", "some", "many", "none"],
)
def test_everything_is_drawn_for_little_and_for_much(make_tables: MakeTables, settings: dict[str, int]) -> None:
    out = make_tables(**settings)
    paths = draw(out)
    assert paths == [out / name for name in NAMES]
    for path in paths[:3]:
        pixels = imread(path)
        assert pixels.shape[1] == 2400
        assert pixels.std() > 0.02, f"{path.name} is blank"


@pytest.fixture
def three_dots(monkeypatch: pytest.MonkeyPatch) -> None:
    """In place of the three pictures that there always are, which other tests have, some of a single pixel."""

    def dot(_: object, scheme: Scheme, path: Path) -> Path:
        imsave(path, [[scheme is LIGHT]])
        return path

    # `lapwing.pipeline.report.draw` is the function, which hides its module.
    drawing = sys.modules[draw.__module__]
    for name in ("draw_coverage", "draw_latency", "draw_loss"):
        monkeypatch.setattr(drawing, name, dot)


@pytest.mark.usefixtures("three_dots")
def test_the_page_fetches_nothing_and_says_what_its_pictures_show(make_tables: MakeTables) -> None:
    """And is text from data escaped in it?"""
    out = make_tables(trouble=True)
    draw(out, credit='Somebody <b>"else"</b>')
    text = (out / "report.html").read_text(encoding="utf-8")
    links = Links()
    links.feed(text)
    assert len(links.addresses) == 7
    assert all(address.startswith("data:") for address in links.addresses)
    assert not links.silent
    assert not re.search(r"url\(|@import|<script", text)
    assert "&lt;not JSON &amp; worse&gt;" in text
    assert "Somebody &lt;b&gt;&quot;else&quot;&lt;/b&gt;" in text
    assert "<not JSON" not in text
    assert '<section id="freshness">' not in text  # it was not asked for


@pytest.mark.usefixtures("three_dots")
@pytest.mark.parametrize(
    ("settings", "told"), [({}, "Share of 3 places"), ({"readings": 0}, "no reading with a position")]
)
def test_with_a_rule_the_page_shows_how_many_places_are_fresh(
    make_tables: MakeTables, settings: dict[str, int], told: str
) -> None:
    out = make_tables(**settings)
    paths = draw(out, rule=FreshnessRule("with commands", 30.0, 2))
    assert [path.name for path in paths] == [*NAMES[:3], "freshness.png", "report.html"]
    assert imread(paths[3]).shape[1] == 2400
    text = (out / "report.html").read_text(encoding="utf-8")
    assert '<section id="freshness">' in text
    assert told in text


def test_names_from_data_are_drawn_as_they_are(make_tables: MakeTables) -> None:
    """Devices (one in three has trouble, and is named) or networks with such names must not end the report for all."""
    names = [r"$\frac{$", "$x$", "\u202eevil", "\x1b[31m", "a\nb", "n" * 5_000]
    out = make_tables(trouble=True, names=names, devices=3 * len(names))
    pictures = draw(out)
    assert {path.name for path in pictures} >= {"coverage.png", "loss.png"}
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in pictures if path.suffix == ".png")


def test_a_full_disk_is_one_line_and_leaves_what_was_drawn_before(make_tables: MakeTables) -> None:
    out = make_tables()
    drawn = {out / name: b"drawn before" for name in NAMES}
    for path, before in drawn.items():
        path.write_bytes(before)
    kept = resource.getrlimit(resource.RLIMIT_FSIZE)
    told = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # then a file that grows too large is an OSError
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, kept[1]))
        with pytest.raises(ReportError, match=r"cannot be drawn: File too large.*the tables are whole; make room"):
            draw(out)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, kept)
        signal.signal(signal.SIGXFSZ, told)
    assert {path: path.read_bytes() for path in drawn} == drawn
    assert not [path for path in out.iterdir() if path.suffix == ".part"]


def test_a_missing_table_is_named_with_the_remedy(tmp_path: Path) -> None:
    with pytest.raises(ReportError, match=r"no such table .*tables/coverage.*: run the job that writes it"):
        draw(tmp_path)
