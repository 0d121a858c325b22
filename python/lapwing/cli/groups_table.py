"""Groups and their members as tables: columns for people, on a terminal in colour."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from rich.console import Group as Stack
from rich.console import RenderableType
from rich.markup import escape
from rich.table import Table

from lapwing.cli.common import table
from lapwing.text import one_line

GROUP_HEAD = (
    "GROUP", "FILTER", "STRATEGY", "MEMBERS", "CRITICAL", "BULK", "UNACKED", "BACKLOG", "STATE", "LOST", "MISSED",
    "KICKS",
)  # fmt: skip
MEMBER_HEAD = ("MEMBER", "STATE", "RTT", "WORK", "QUEUE", "INFLIGHT", "OVERDUE", "PICKS", "KICKS", "MISSED")
_LEFT = {"GROUP", "FILTER", "STRATEGY", "STATE", "MEMBER"}
_BAD = ("behind", "kicked")
_NONE = "-"


def group_row(group: dict[str, Any]) -> tuple[str, ...]:
    """One group: what waits by lane, seconds of work that is, whether it is behind."""
    counters = group["counters"]
    return (
        one_line(group["name"]),
        one_line(group["filter"]),
        group["strategy"],
        f"{group['members_here']} of {len(group['members'])}",
        f"{group['waiting_critical']:,}",
        f"{group['waiting_bulk']:,}",
        f"{group['unacknowledged']:,}",
        _seconds(group["backlog_s"]),
        _state(group),
        f"{counters['dropped'].get('queue_full', 0):,}",
        f"{counters['missed']:,}",
        f"{counters['kicks']:,}",
    )


def _state(group: dict[str, Any]) -> str:
    states = ["behind" if group["is_behind"] else "in time"]
    states += ["durable"] if group["is_durable"] else []
    states += ["on disk"] if group["is_kept"] else []
    return ", ".join(states)


def member_row(member: dict[str, Any]) -> tuple[str, ...]:
    """One member: distance, estimated work per message, what it has, how often it was chosen."""
    return (
        one_line(member["client_id"]),
        _presence(member),
        _milliseconds(member["rtt_ms"]),
        _milliseconds(member["service_ms"]),
        _number(member["queue"]),
        f"{_number(member['inflight'])}/{_number(member['limit'])}",
        _milliseconds(member["overdue_ms"] or None),
        _number(member["picks"]),
        _number(member["kicks"]),
        _number(member["missed"]),
    )


def _presence(member: dict[str, Any]) -> str:
    notes = [note for note in ("blind", "closed") if member[f"is_{note}"]]
    return ", ".join([member["presence"], *notes])


def plain(groups: Sequence[dict[str, Any]], *, members: bool) -> str:
    """For a pipe: one table of groups; with ``members`` one more for each group."""
    parts = [table(map(group_row, groups), GROUP_HEAD)]
    if members:
        parts += [_titled(group) for group in groups if group["members"]]
    return "\n\n".join(parts)


def _titled(group: dict[str, Any]) -> str:
    return f"{_title(group)}\n{table(map(member_row, group['members']), MEMBER_HEAD)}"


def on_terminal(groups: Sequence[dict[str, Any]], *, members: bool) -> RenderableType:
    """The same for a terminal."""
    tables = [_rich(GROUP_HEAD, map(group_row, groups))]
    if members:
        tables += [_rich(MEMBER_HEAD, map(member_row, g["members"]), _title(g)) for g in groups if g["members"]]
    return Stack(*tables)


def _rich(head: Sequence[str], rows: Iterable[Sequence[str]], title: str = "") -> Table:
    made = Table(title=escape(title) or None, title_justify="left", box=None, header_style="bold", pad_edge=False)
    for name in head:
        made.add_column(name, justify="left" if name in _LEFT else "right", no_wrap=name not in ("FILTER", "MEMBER"))
    for row in rows:
        is_bad = any(cell.startswith(_BAD) for name, cell in zip(head, row, strict=True) if name == "STATE")
        made.add_row(*map(escape, row), style="red" if is_bad else None)
    return made


def _title(group: dict[str, Any]) -> str:
    return f"members of {one_line(group['name'])}, {one_line(group['filter'])}"


def _number(value: float | None) -> str:
    return _NONE if value is None else f"{value:,.0f}"


def _milliseconds(value: float | None) -> str:
    if value is None:
        return _NONE
    return f"{value / 1000:,.1f} s" if value >= 10_000 else f"{value:,.0f} ms" if value >= 100 else f"{value:.3g} ms"


def _seconds(value: float | None) -> str:
    return _NONE if value is None else f"{value:,.0f} s" if value >= 100 else f"{value:.3g} s"
