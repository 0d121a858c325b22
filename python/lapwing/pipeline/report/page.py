"""``report.html``: one file that holds everything it shows and fetches nothing, in a light and a dark scheme.

Everything that comes from data goes through ``_text``; the markup itself is only in this module and
``page_style``.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from html import escape
from pathlib import Path

import lapwing
from lapwing.contracts.tables import TABLES
from lapwing.pipeline.report.facts import Facts
from lapwing.pipeline.report.loss_facts import LossFacts
from lapwing.pipeline.report.page_style import STYLE
from lapwing.pipeline.report.units import count, dbm, duration, share

_TABLE_MEANINGS = {
    "readings": "valid readings, each once",
    "quarantine": "payloads that break the contract, with the reason",
    "quality": "per device and minute: received, lost, repeated, reordered",
    "latency": "per minute and route: the histogram and its percentiles",
    "coverage": "per quarter of an hour, map tile, network and channel",
    "seen": "which serials have arrived, as bit masks",
}


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture in both schemes, as PNG bytes."""

    name: str
    light: bytes
    dark: bytes


def write_page(facts: Facts, pictures: list[Picture], path: Path) -> Path:
    """Writes the page; ``pictures`` are named ``coverage``, ``latency`` and ``loss``."""
    path.write_text(page(facts, {picture.name: picture for picture in pictures}), encoding="utf-8")
    return path


def page(facts: Facts, pictures: dict[str, Picture]) -> str:
    """The whole document."""
    sections = (
        _section("coverage", "Coverage", _coverage_words(facts), pictures, _network_table(facts)),
        _section("latency", "Latency", _latency_words(facts), pictures, _route_table(facts)),
        _section("loss", "Loss", _loss_words(facts), pictures, ""),
        f"<section><h2>Tables</h2>{_tables_table(facts)}{_quarantine_table(facts)}</section>",
    )
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="Lapwing {_text(lapwing.__version__)}">
<link rel="icon" href="data:,">
<title>Lapwing: coverage, latency and loss</title>
<style>{STYLE}</style>
</head>
<body>
<header><h1>Coverage, latency and loss</h1><p>{_headline(facts)}</p></header>
<main>
{_cards(facts)}
{"".join(sections)}
</main>
<footer>{_footer(facts)}</footer>
</body>
</html>
"""


def _section(name: str, title: str, words: str, pictures: dict[str, Picture], table: str) -> str:
    picture = pictures[name]
    return f"""<section id="{name}">
<h2>{title}</h2>
<figure>
<div class="scroll"><picture>
<source media="(prefers-color-scheme: dark)" srcset="{_data_uri(picture.dark)}">
<img src="{_data_uri(picture.light)}" alt="{_text(words)}">
</picture></div>
<figcaption>{_text(words)}</figcaption>
</figure>
{table}
</section>
"""


def _headline(facts: Facts) -> str:
    if facts.coverage is None:
        return "No reading has arrived yet."
    first, last = facts.coverage.first, facts.coverage.last
    return _text(
        f"{count(facts.tables.rows['readings'])} readings, measured {first:%-d %B %Y %H:%M} to "
        f"{last:%-d %B %Y %H:%M} UTC, in {count(facts.coverage.tiles)} map tiles."
    )


def _cards(facts: Facts) -> str:
    cards = [("readings", count(facts.tables.rows["readings"]), "")]
    if facts.loss is not None:
        totals = facts.loss.totals
        cards += [
            ("devices", count(len(facts.loss.devices)), ""),
            ("lost", count(totals["lost"]), _mood(totals["lost"])),
            ("repeated", count(totals["repeated"]), ""),
        ]
    cards.append(("in quarantine", count(facts.tables.rows["quarantine"]), _mood(facts.tables.rows["quarantine"])))
    whole = next((route for route in facts.latency if route.name == "sent->ingress"), None)
    if whole is not None:
        cards += [("device to broker, p50", duration(whole.p50_us), ""), ("p99", duration(whole.p99_us), "")]
    items = "".join(
        f'<li class="{mood}"><b>{_text(value)}</b><span>{_text(name)}</span></li>' for name, value, mood in cards
    )
    return f'<ul class="cards">{items}</ul>'


def _mood(trouble: int) -> str:
    return "bad" if trouble else "good"


def _coverage_words(facts: Facts) -> str:
    if facts.coverage is None:
        return "Coverage: the table has no rows yet."
    coverage = facts.coverage
    parts = [
        f"Map of {count(coverage.tiles)} tiles, each coloured by the median signal strength (RSRP) of the "
        "readings taken in it; large for all networks, small for each."
    ]
    if any(facts.occupied_share == facts.occupied_share for facts in coverage.totals):
        parts.append("The last small map shows the share of time in which the channels were occupied.")
    if coverage.tiles_outside:
        parts.append(f"{count(coverage.tiles_outside)} far tiles lie outside the map.")
    return " ".join(parts)


def _latency_words(facts: Facts) -> str:
    if not facts.latency:
        return "Latency: the table has no rows yet."
    first, last = facts.latency[0], facts.latency[-1]
    return (
        f"How long readings took between the clocks they passed. {first.title.capitalize()}: half within "
        f"{duration(first.p50_us)}, 99 of 100 within {duration(first.p99_us)}; {last.title}: half within "
        f"{duration(last.p50_us)}. What ends at Spark follows the rhythm of its batches, not the broker's."
    )


def _loss_words(facts: Facts) -> str:
    if facts.loss is None:
        return "Loss: the table has no rows yet."
    how = "Counted exactly, from the serial number that each device gives its readings."
    return f"{_loss_verdict(facts.loss)} {how}"


def _loss_verdict(loss: LossFacts) -> str:
    devices = "one device" if len(loss.devices) == 1 else f"{count(len(loss.devices))} devices"
    sent = f"Of {count(loss.sent)} readings that {devices} sent,"
    if loss.clean:
        return f"{sent} none was lost, none came twice and none out of order."
    totals = loss.totals
    return (
        f"{sent} {count(totals['lost'])} were lost ({share(totals['lost'] / max(loss.sent, 1))}), "
        f"{count(totals['recovered'])} came late and filled a gap, {count(totals['repeated'])} came again "
        f"and {count(totals['reordered'])} out of order."
    )


def _network_table(facts: Facts) -> str:
    if facts.coverage is None:
        return ""
    served = f"served (≥ {facts.coverage.served_dbm} dBm)"
    head = ("network", "readings", "tiles", "RSRP p10", "p50", "p90", served, "time occupied")
    body = [
        (
            network.name,
            count(network.samples),
            count(network.tiles),
            dbm(network.rsrp_p10_dbm),
            dbm(network.rsrp_p50_dbm),
            dbm(network.rsrp_p90_dbm),
            share(network.served_share),
            share(network.occupied_share),
        )
        for network in facts.coverage.totals
    ]
    return _table(head, body)


def _route_table(facts: Facts) -> str:
    if not facts.latency:
        return ""
    head = ("route", "readings", "p50", "p95", "p99", "p99.9", "min", "max")
    body = [
        (
            f"{route.title} ({route.name.replace('->', ' → ')})",
            count(route.count),
            *map(
                duration,
                (route.p50_us, route.p95_us, route.p99_us, route.p999_us, route.min_us, route.max_us),
            ),
        )
        for route in facts.latency
    ]
    return _table(head, body)


def _tables_table(facts: Facts) -> str:
    body = [(name, count(facts.tables.rows[name]), _TABLE_MEANINGS.get(name, "")) for name in TABLES]
    return _table(("table", "rows", "what a row is"), body, words=(0, 2))


def _quarantine_table(facts: Facts) -> str:
    if not facts.tables.quarantine:
        return ""
    return _table(
        ("quarantine: reason", "rows"),
        [(name, count(rows)) for name, rows in facts.tables.quarantine.items()],
    )


def _table(head: tuple[str, ...], body: Sequence[tuple[str, ...]], words: tuple[int, ...] = (0,)) -> str:
    """A table that scrolls sideways by itself on a narrow screen; columns of ``words`` are text, the others
    figures.
    """

    def line(cells: tuple[str, ...], tag: str) -> str:
        made = (
            f'<{tag} class="{"word" if index in words else "figure"}">{_text(cell)}</{tag}>'
            for index, cell in enumerate(cells)
        )
        return f"<tr>{''.join(made)}</tr>"

    rows = "".join(line(cells, "td") for cells in body)
    table = f"<table><thead>{line(head, 'th')}</thead><tbody>{rows}</tbody></table>"
    return f'<div class="scroll" tabindex="0">{table}</div>'


def _footer(facts: Facts) -> str:
    credit = f"<p>Data: {_text(facts.credit)}</p>" if facts.credit else ""
    made = f"Made {datetime.now(UTC):%-d %B %Y %H:%M} UTC by Lapwing {lapwing.__version__}."
    return f"{credit}<p>{_text(made)} Percentiles are nearest rank on the histograms in the tables.</p>"


def _data_uri(png: bytes) -> str:
    return f"data:image/png;base64,{b64encode(png).decode()}"


def _text(text: str) -> str:
    return escape(text, quote=True)
