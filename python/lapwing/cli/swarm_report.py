"""The report of a swarm for people: three small tables and the notes."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from lapwing.text import one_line

_PERCENTILES = ("p50", "p90", "p99", "p999", "max")


def is_clean(report: dict[str, Any]) -> bool:
    """True when everything arrived once, in order, the broker took all, and nothing broke."""
    bad = ("lost", "duplicates", "reordered", "rejected", "unacknowledged", "unsent")
    return not report["errors"] and not any(report[name] for name in bad)


def print_report(report: dict[str, Any], console: Console | None = None) -> None:
    """Prints ``report`` as ``lapwing swarm`` shows it."""
    console = console or Console()
    console.print(_head(report), highlight=False)
    console.print(_messages(report))
    console.print(_latencies(report))
    console.print(_cpu(report))
    if sleep := report["sleep"]:
        seconds = sleep["all_drained_s"]
        console.print(f"from the first that awoke to the last that had all: {seconds:,.2f} s", highlight=False)
    for label, count in report["errors"].items():
        console.print(f"[red]{count:,} x {escape(one_line(label))}[/red]", highlight=False)
    for note in report["notes"]:
        console.print(f"note: {escape(one_line(note))}", style="dim", highlight=False)


def _head(report: dict[str, Any]) -> str:
    profile = report["profile"]
    rate = f"{profile['rate']:,.10g}/s" if profile["rate"] else "as fast as it goes"
    return (
        f"[bold]{profile['pattern']}[/bold]  {profile['publishers']:,} publishers, "
        f"{profile['subscribers']:,} subscribers, {profile['topics']:,} topics, QoS {profile['qos']}, "
        f"{profile['payload_bytes']:,} B, {rate}, {profile['seconds']:g} s ({report['mode']})\n"
        f"{escape(one_line(profile['url']))}: {report['clients']:,} clients connected in {report['connect_s']:.2f} s"
    )


def _messages(report: dict[str, Any]) -> Table:
    table = Table("messages", "count", "per second")
    for column in table.columns[1:]:
        column.justify = "right"
    table.add_row("sent", f"{report['sent']:,}", f"{report['sent_per_s']:,.0f}")
    if report["profile"]["qos"]:
        table.add_row("acknowledged", f"{report['acknowledged']:,}", "")
    if report["expected"]:
        table.add_row("expected", f"{report['expected']:,}", "")
        table.add_row("delivered", f"{report['delivered']:,}", f"{report['delivered_per_s']:,.0f}")
    for name in ("lost", "duplicates", "reordered"):
        if report["expected"]:
            table.add_row(name, _alarm(report[name]), "")
    if sleep := report["sleep"]:
        table.add_row("times awake", f"{sleep['wakes']:,}", "")
        undrained = sleep["wakes"] - sleep["drained"]
        table.add_row("of these not drained", _alarm(undrained), "")
    for name in ("foreign", "rejected", "unacknowledged", "unsent"):
        if report[name]:
            table.add_row(name, _alarm(report[name]), "")
    return table


def _latencies(report: dict[str, Any]) -> Table:
    table = Table("us from due time to", "p50", "p90", "p99", "p99.9", "max")
    for column in table.columns[1:]:
        column.justify = "right"
    rows = {
        "arrival": report["latency_us"],
        "broker's answer": report["answer_us"],
        "sending (ours)": report["schedule"]["late_us"],
        "connecting": report["connect_us"],
    }
    if report["sleep"]:
        rows["PINGRESP, from awaking"] = report["sleep"]["drain_us"]
    for name, figures in rows.items():
        if figures["count"]:
            table.add_row(name, *(f"{figures[key]:,.1f}" for key in _PERCENTILES))
    return table


def _cpu(report: dict[str, Any]) -> Table:
    cpu = report["cpu"]
    table = Table("CPU", "seconds", "messages per CPU second")
    for column in table.columns[1:]:
        column.justify = "right"
    table.add_row("swarm", f"{cpu['swarm_s']:.2f}", f"{cpu['messages_per_swarm_cpu_s']:,.0f} sent or arrived")
    if cpu["broker_s"] is not None:
        name = "deliveries" if report["expected"] else "publishes"
        figure = cpu[f"{name}_per_broker_cpu_s"]
        table.add_row("broker", f"{cpu['broker_s']:.2f}", f"{figure:,.0f} {name}")
    return table


def _alarm(count: int) -> str:
    return f"[red]{count:,}[/red]" if count else "0"
