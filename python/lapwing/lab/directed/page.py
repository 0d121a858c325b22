"""``report.html`` of the experiment: fresh places over time without and with commands, and what it took."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import lapwing
from lapwing.lab.directed.result import DirectedPlan, DirectedResult
from lapwing.pipeline.report.freshness_facts import FreshnessFacts
from lapwing.pipeline.report.freshness_picture import draw_freshness
from lapwing.pipeline.report.freshness_words import freshness_table, freshness_words
from lapwing.pipeline.report.html import Picture, cards, document, section, table, text
from lapwing.pipeline.report.style import DARK

_TITLE = "What commands are worth"


def write_report(plan: DirectedPlan, facts: FreshnessFacts | None, result: DirectedResult) -> list[Path]:
    """Draws ``freshness.png`` into the plan's folder and writes the page beside it; gives both."""
    light, path = draw_freshness(facts, plan.out / "freshness.png"), plan.out / "report.html"
    with TemporaryDirectory() as scratch:
        dark = draw_freshness(facts, Path(scratch) / "freshness.png", DARK)
        picture = Picture("freshness", light.read_bytes(), dark.read_bytes())
    path.write_text(page(plan, facts, result, picture), encoding="utf-8")
    return [light, path]


def page(plan: DirectedPlan, facts: FreshnessFacts | None, result: DirectedResult, picture: Picture) -> str:
    """The whole document."""
    below = freshness_table(facts) if facts else ""
    parts = [
        _cards(result),
        section("freshness", "Freshness", freshness_words(facts), picture, below),
        f"<section><h2>Commands</h2>{_commands_table(result)}</section>",
    ]
    headline = text(
        f"{plan.devices:,} phones, {plan.seconds:g} s, {plan.rate_hz:.3g} readings a second each, seed {plan.seed}: "
        "the same walks and budgets without and with a controller."
    )
    made = f"<p>{text(f'Made {datetime.now(UTC):%-d %B %Y %H:%M} UTC by Lapwing {lapwing.__version__}.')}</p>"
    return document(f"Lapwing: {_TITLE}", _TITLE, headline, "\n".join(parts), made)


def _cards(result: DirectedResult) -> str:
    same = "good" if result.readings_with == result.readings_without else "bad"
    return cards(
        [
            ("as many fresh places", f"{result.ratio:.2f} x", ""),
            ("in the second half", f"{result.ratio_second_half:.2f} x", ""),
            ("readings without commands", f"{result.readings_without:,}", same),
            ("readings with commands", f"{result.readings_with:,}", same),
            ("commands executed twice", f"{result.executed_twice:,}", "bad" if result.executed_twice else "good"),
        ]
    )


def _commands_table(result: DirectedResult) -> str:
    rows = (
        ("commands", f"{result.commands:,}"),
        ("executed", f"{result.executed:,}"),
        ("from commit to phone, p50", _unit(result.reach_p50_ms, "ms")),
        ("from commit to phone, p95", _unit(result.reach_p95_ms, "ms")),
        ("a batch takes, p50", _unit(result.batch_p50_s, "s")),
        ("phones behind their schedule, at worst", _unit(result.behind_s, "s")),
    )
    return table(("", "figure"), rows)


def _unit(value: float | None, unit: str) -> str:
    return "-" if value is None else f"{value:.3g} {unit}"
