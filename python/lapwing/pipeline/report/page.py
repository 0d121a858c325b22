"""``report.html``: one file that holds everything it shows and fetches nothing, in a light and a dark scheme.

Everything that comes from data goes through ``text``; the markup itself is only in this module, ``html`` and
``page_style``.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import lapwing
from lapwing.contracts.tables import TABLES
from lapwing.pipeline.report.facts import Facts
from lapwing.pipeline.report.freshness_words import freshness_table, freshness_words
from lapwing.pipeline.report.html import Picture, cards, document, section, table, text
from lapwing.pipeline.report.loss_facts import LossFacts
from lapwing.pipeline.report.units import count, dbm, duration, share
from lapwing.pipeline.report.whole import whole

_TABLE_MEANINGS = {
    "readings": "valid readings, each once",
    "quarantine": "payloads that break the contract, with the reason",
    "quality": "per device and minute: received, lost, repeated, reordered",
    "latency": "per minute and route: the histogram and its percentiles",
    "coverage": "per quarter of an hour, map tile, network, channel and operator",
    "seen": "which serials have arrived, as bit masks",
}


def write_page(facts: Facts, pictures: list[Picture], path: Path) -> Path:
    """Writes the page; ``pictures`` are named ``coverage``, ``latency``, ``loss`` and perhaps ``freshness``."""
    with whole(path) as part:
        part.write_text(page(facts, {picture.name: picture for picture in pictures}), encoding="utf-8")
    return path


def page(facts: Facts, pictures: dict[str, Picture]) -> str:
    """The whole document."""
    sections = (
        _section("coverage", "Coverage", _coverage_words(facts), pictures, _network_table(facts)),
        _section("latency", "Latency", _latency_words(facts), pictures, _route_table(facts)),
        _section("loss", "Loss", _loss_words(facts), pictures, ""),
        _freshness_section(facts, pictures),
        f"<section><h2>Tables</h2>{_tables_table(facts)}{_quarantine_table(facts)}</section>",
    )
    body = f"{_cards(facts)}\n{''.join(sections)}"
    title = "Coverage, latency and loss"
    return document("Lapwing: coverage, latency and loss", title, _headline(facts), body, _footer(facts))


def _section(name: str, title: str, words: str, pictures: dict[str, Picture], below: str) -> str:
    return section(name, title, words, pictures[name], below)


def _headline(facts: Facts) -> str:
    if facts.coverage is None:
        return "No reading has arrived yet."
    first, last = facts.coverage.first, facts.coverage.last
    return text(
        f"{count(facts.tables.rows['readings'])} readings, measured {first:%-d %B %Y %H:%M} to "
        f"{last:%-d %B %Y %H:%M} UTC, in {count(facts.coverage.tiles)} map tiles."
    )


def _cards(facts: Facts) -> str:
    figures = [("readings", count(facts.tables.rows["readings"]), "")]
    if facts.loss is not None:
        totals = facts.loss.totals
        figures += [
            ("devices", count(len(facts.loss.devices)), ""),
            ("lost", count(totals["lost"]), _mood(totals["lost"])),
            ("repeated", count(totals["repeated"]), ""),
        ]
    figures.append(("in quarantine", count(facts.tables.rows["quarantine"]), _mood(facts.tables.rows["quarantine"])))
    whole = next((route for route in facts.latency if route.name == "sent->ingress"), None)
    if whole is not None:
        figures += [
            ("device to broker, p50", duration(whole.p50_us), ""),
            ("device to broker, p99", duration(whole.p99_us), ""),
        ]
    return cards(figures)


def _mood(trouble: int) -> str:
    return "bad" if trouble else "good"


def _coverage_words(facts: Facts) -> str:
    if facts.coverage is None:
        return "Coverage: the table has no rows yet."
    coverage = facts.coverage
    parts = [
        f"Map of {count(coverage.tiles)} tiles, each coloured by the median signal strength (RSRP) of the "
        "readings taken in it. Each map shows one network of one operator: that with most readings large, others small."
    ]
    if any(facts.occupied_share == facts.occupied_share for facts in coverage.totals):
        parts.append("The last small map shows the share of time in which the channels of the first were occupied.")
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
        return f"{sent} none was lost or refused, none came twice and none out of order."
    totals = loss.totals
    return (
        f"{sent} {count(totals['lost'])} were lost ({share(totals['lost'] / max(loss.sent, 1))}), "
        f"{count(totals['quarantined'])} arrived and lie in quarantine, "
        f"{count(totals['recovered'])} came late and filled a gap, {count(totals['repeated'])} came again "
        f"and {count(totals['reordered'])} out of order."
    )


def _freshness_section(facts: Facts, pictures: dict[str, Picture]) -> str:
    if "freshness" not in pictures:
        return ""
    below = freshness_table(facts.freshness) if facts.freshness else ""
    return _section("freshness", "Freshness", freshness_words(facts.freshness), pictures, below)


def _network_table(facts: Facts) -> str:
    if facts.coverage is None:
        return ""
    served = f"served (≥ {facts.coverage.served_dbm} dBm)"
    head = (
        "network",
        "readings",
        "tiles",
        "per tile, median (most)",
        "RSRP p10",
        "p50",
        "p90",
        served,
        "time occupied",
    )
    body = [
        (
            network.name,
            count(network.samples),
            count(network.tiles),
            f"{count(network.samples_per_tile_p50)} ({count(network.samples_per_tile_max)})",
            dbm(network.rsrp_p10_dbm),
            dbm(network.rsrp_p50_dbm),
            dbm(network.rsrp_p90_dbm),
            share(network.served_share),
            share(network.occupied_share),
        )
        for network in facts.coverage.totals
    ]
    return table(head, body)


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
    return table(head, body)


def _tables_table(facts: Facts) -> str:
    body = [(name, count(facts.tables.rows[name]), _TABLE_MEANINGS.get(name, "")) for name in TABLES]
    return table(("table", "rows", "what a row is"), body, words=(0, 2))


def _quarantine_table(facts: Facts) -> str:
    if not facts.tables.quarantine:
        return ""
    return table(
        ("quarantine: reason", "rows"),
        [(name, count(rows)) for name, rows in facts.tables.quarantine.items()],
    )


def _footer(facts: Facts) -> str:
    credit = f"<p>Data: {text(facts.credit)}</p>" if facts.credit else ""
    made = f"Made {datetime.now(UTC):%-d %B %Y %H:%M} UTC by Lapwing {lapwing.__version__}."
    return f"{credit}<p>{text(made)} Percentiles are nearest rank on the histograms in the tables.</p>"
