"""``report.html`` of the experiment: the three charts, the knees, and every figure behind them."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import lapwing
from lapwing.lab.crowdsourcing.balance import PLACES
from lapwing.lab.crowdsourcing.experiment import Result
from lapwing.lab.crowdsourcing.knee import LATENCY_RATIO_MAX, LATENCY_SLACK_MS, LOST_SHARE_MAX
from lapwing.lab.crowdsourcing.pictures import draw
from lapwing.lab.crowdsourcing.row import Row
from lapwing.lab.crowdsourcing.schedule import LATE_MS, MISSED_SHARE_MAX
from lapwing.lab.crowdsourcing.watch import Stress
from lapwing.pipeline.report.html import Picture, cards, document, section, table, text
from lapwing.pipeline.report.style import DARK, LIGHT, fonts
from lapwing.pipeline.report.units import share

_TITLE = "From phones to the controller"
_RULE = (
    f"The knee is the most phones at which everything holds: no process ended, at most {LOST_SHARE_MAX:.2%} of the "
    f"readings lost, and the end-to-end p99 at most {LATENCY_RATIO_MAX:g} times that at the fewest phones (or "
    f"{LATENCY_SLACK_MS:g} ms above it)."
)
_AWAY = (
    f"A point at which the generator itself sent more than {MISSED_SHARE_MAX:.0%} of its readings later than "
    f"{LATE_MS:g} ms after they were due, or not at all, is thrown away: it is in no chart and in no knee."
)


def write_report(result: Result, out: Path) -> list[Path]:
    """Draws the charts into ``out`` and writes the page; gives the files."""
    with fonts(), TemporaryDirectory() as scratch:
        light, dark = draw(result, LIGHT, out), draw(result, DARK, Path(scratch))
        pairs = zip(light, dark, strict=True)
        pictures = {one.stem: Picture(one.stem, one.read_bytes(), other.read_bytes()) for one, other in pairs}
    path = out / "report.html"
    path.write_text(page(result, pictures), encoding="utf-8")
    return [*light, path]


def page(result: Result, pictures: dict[str, Picture]) -> str:
    """The whole document."""
    parts = [
        _cards(result),
        f"<section><h2>Knees</h2>{_knee_table(result)}<p>{text(_RULE)} {text(_AWAY)}</p></section>",
        section("latency", "Latency", _LATENCY, pictures["latency"], _latency_table(result)),
        section("loss", "Loss", _LOSS, pictures["loss"], _loss_table(result)),
        section("stress", "Stress", _STRESS, pictures["stress"], _stress_table(result)),
        f"<section><h2>Points that do not count</h2>{_away_table(result)}</section>",
    ]
    return document(f"Lapwing: {_TITLE}", _TITLE, _headline(result), "\n".join(parts), _footer())


_LATENCY = (
    "How long readings take, from the instant at which they were due: to the broker, on to the controller, and end to "
    "end. The controller's clock is read when it takes a reading up; a job of Spark's takes up batches."
)
_LOSS = (
    "Readings that were due and that the controller does not have. Every one has a place and a reason, told by whoever "
    "lost it; what nobody accounts for is a column of its own."
)
_STRESS = (
    "What the broker was busy with while readings were published, and every process beside it. A dash: it counts no "
    "drops."
)


def _headline(result: Result) -> str:
    plan = result.plan
    meanings = "; ".join(f"{each.title}: {each.meaning}" for each in plan.architectures)
    return text(
        f"The same phones; readings of each a second: {plan.rate:g}; {plan.seconds:g} s a point; seeds: {plan.seeds}. "
        f"{meanings}."
    )


def _cards(result: Result) -> str:
    figures = [(f"{label} holds up to", f"{found.devices:,}", "") for label, found in result.knees().items()]
    unaccounted = sum(abs(row.balance.unaccounted) for row in result.rows if not row.ended)
    figures.append(("readings unaccounted for", f"{unaccounted:,}", "bad" if unaccounted else "good"))
    return cards(figures)


def _knee_table(result: Result) -> str:
    body = [
        (label, f"{found.devices:,}", f"{found.breaks_at:,}" if found.breaks_at is not None else "-", found.why)
        for label, found in result.knees().items()
    ]
    return table(("line", "holds up to", "breaks at", "why"), body, words=(0, 3))


def _counted(result: Result) -> list[Row]:
    return [row for row in result.rows if not row.ended]


def _latency_table(result: Result) -> str:
    head = ("line", "hop", "phones", "readings", "p50 ms", "p95", "p99", "p99.9", "max")
    body = [
        (
            row.line,
            name,
            f"{row.devices:,}",
            f"{one.count:,}",
            *(f"{value:,.1f}" for value in (one.p50_ms, one.p95_ms, one.p99_ms, one.p999_ms, one.max_ms)),
        )
        for row in _counted(result)
        for name, one in row.latency.items()
    ]
    return table(head, body, words=(0, 1))


def _loss_table(result: Result) -> str:
    head = ("line", "phones", "due", "received", "repeated", "lost", "of due", "unaccounted", "where and why")
    body = [
        (
            row.line,
            f"{row.devices:,}",
            f"{row.balance.due:,}",
            f"{row.balance.received:,}",
            f"{row.answer.get('repeated', 0):,}",
            f"{row.balance.missing:,}",
            share(row.balance.missing / max(1, row.balance.due)),
            f"{row.balance.unaccounted:,}",
            _where(row),
        )
        for row in _counted(result)
    ]
    return table(head, body, words=(0, 8))


def _where(row: Row) -> str:
    told = [
        f"{place}: {reason} {count:,}" for place in PLACES for reason, count in row.balance.lost.get(place, {}).items()
    ]
    return "; ".join(told) or "nothing lost"


def _stress_table(result: Result) -> str:
    head = ("line", "phones", "process", "cores", "cores, idle", "memory MiB", "most waiting", "dropped")
    body = [
        (
            row.line,
            f"{row.devices:,}",
            stress.name,
            f"{stress.cpu:.2f}",
            f"{stress.cpu_idle:.3f}",
            f"{stress.rss_bytes / 2**20:,.0f}",
            f"{stress.queue:,}",
            _dropped(stress),
        )
        for row in _counted(result)
        for stress in row.stress
    ]
    return table(head, body, words=(0, 2, 7))


def _dropped(stress: Stress) -> str:
    if stress.dropped is None:
        return "-"
    return "; ".join(f"{reason} {count:,}" for reason, count in stress.dropped.items()) or "0"


def _away_table(result: Result) -> str:
    body = [
        (row.line, f"{row.devices:,}", row.ended or row.thrown_away)
        for row in result.rows
        if row.ended or row.thrown_away
    ]
    return table(("line", "phones", "why"), body, words=(0, 2)) if body else "<p>Every point counts.</p>"


def _footer() -> str:
    made = f"Made {datetime.now(UTC):%-d %B %Y %H:%M} UTC by Lapwing {lapwing.__version__}."
    return f"<p>{text(made)} Percentiles are nearest rank over all readings.</p>"
