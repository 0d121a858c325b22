"""From tables to ``coverage.png``, ``latency.png``, ``loss.png``, ``freshness.png`` and ``report.html``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from lapwing.pipeline.only_files import check_only_files
from lapwing.pipeline.report.coverage_facts import coverage_facts
from lapwing.pipeline.report.coverage_picture import ASPECT, draw_coverage
from lapwing.pipeline.report.facts import Facts, table_rows
from lapwing.pipeline.report.freshness_facts import FreshnessRule, freshness_facts
from lapwing.pipeline.report.freshness_picture import draw_freshness
from lapwing.pipeline.report.html import Picture
from lapwing.pipeline.report.latency_facts import latency_facts
from lapwing.pipeline.report.latency_picture import draw_latency
from lapwing.pipeline.report.loss_facts import loss_facts
from lapwing.pipeline.report.loss_picture import draw_loss
from lapwing.pipeline.report.page import write_page
from lapwing.pipeline.report.style import DARK, LIGHT, Scheme, fonts
from lapwing.pipeline.report.whole import drawing


def draw(out: Path, *, credit: str = "", rule: FreshnessRule | None = None) -> list[Path]:
    """Draws every picture and the page from ``out/tables`` into ``out``; files of the same names are
    replaced.

    Args:
        out: A folder that the ``coverage`` job wrote to.
        credit: Source of the data, named in the page where given.
        rule: When a place is fresh; given, there is a picture of how many are, over time.
    Returns:
        The files written: the pictures, then the page.
    Raises:
        ReportError: a table is missing or cannot be read, or a file cannot be written.
    """
    facts = gather_facts(out, credit=credit)
    if rule is not None:
        fresh = freshness_facts({rule.name: out}, fresh_s=rule.fresh_s, samples_wanted=rule.samples_wanted)
        facts = replace(facts, freshness=fresh)
    return _draw(facts, out, with_freshness=rule is not None)


def draw_with_facts(out: Path, *, credit: str = "") -> Facts:
    """Like `draw`; gives the facts that were drawn."""
    facts = gather_facts(out, credit=credit)
    _draw(facts, out)
    return facts


def gather_facts(out: Path, *, credit: str = "") -> Facts:
    """Reads all that the report says from ``out/tables``.

    Raises:
        ReportError: a table is missing or cannot be read.
        FolderError: something else lies where a file belongs.
    """
    check_only_files(out)
    return Facts(coverage_facts(out, ASPECT), latency_facts(out), loss_facts(out), table_rows(out), credit)


def _draw(facts: Facts, out: Path, *, with_freshness: bool = False) -> list[Path]:
    with drawing(out), fonts(), TemporaryDirectory() as scratch:
        light = _pictures(facts, LIGHT, out, with_freshness=with_freshness)
        dark = _pictures(facts, DARK, Path(scratch), with_freshness=with_freshness)
        pictures = [
            Picture(path.stem, path.read_bytes(), other.read_bytes()) for path, other in zip(light, dark, strict=True)
        ]
    return [*light, write_page(facts, pictures, out / "report.html")]


def _pictures(facts: Facts, scheme: Scheme, folder: Path, *, with_freshness: bool) -> list[Path]:
    pictures = [
        draw_coverage(facts.coverage, scheme, folder / "coverage.png"),
        draw_latency(facts.latency, scheme, folder / "latency.png"),
        draw_loss(facts.loss, scheme, folder / "loss.png"),
    ]
    if with_freshness:
        pictures.append(draw_freshness(facts.freshness, folder / "freshness.png", scheme))
    return pictures
