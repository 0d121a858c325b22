"""Groups as tables: every state a reader must tell apart, and what clients have chosen is no terminal code."""

from __future__ import annotations

import io
from typing import Any

from rich.console import Console

from lapwing.cli.groups_table import on_terminal, plain

MEMBER: dict[str, Any] = {
    "client_id": "analyser-1", "presence": "here", "rtt_ms": 0.25, "service_ms": 20.4, "queue": 3, "inflight": 2,
    "limit": 1024, "overdue_ms": 0.0, "picks": 12345, "acknowledged": 1, "refused": 0, "moved": 0, "missed": 7,
    "kicks": 1, "is_blind": False, "is_closed": False,
}  # fmt: skip
AWAY = MEMBER | {
    "client_id": "away", "presence": "away", "rtt_ms": None, "service_ms": None, "queue": None, "inflight": None,
    "limit": None, "overdue_ms": None, "picks": None, "kicks": None, "missed": None,
}  # fmt: skip
GROUP: dict[str, Any] = {
    "name": "alarms", "filter": "alarms/#", "strategy": "auto", "is_durable": True, "is_kept": False,
    "is_behind": False,
    "members_here": 1, "waiting_critical": 1, "waiting_bulk": 20000, "unacknowledged": 2, "backlog_s": 12.34,
    "counters": {"missed": 4, "kicks": 1, "dropped": {"queue_full": 3000, "group_busy": 1}}, "members": [MEMBER, AWAY],
}  # fmt: skip


def cells(line: str) -> list[str]:
    """Columns stand at least two spaces apart."""
    return [cell.strip() for cell in line.split("  ") if cell.strip()]


def test_what_a_group_and_its_members_say() -> None:
    lines = plain([GROUP], members=True).splitlines()
    assert cells(lines[1]) == [
        "alarms", "alarms/#", "auto", "1 of 2", "1", "20,000", "2", "12.3 s", "in time, durable", "3,000", "4", "1",
    ]  # fmt: skip
    assert lines[3] == "members of alarms, alarms/#"
    assert cells(lines[5]) == [
        "analyser-1", "here", "0.25 ms", "20.4 ms", "3", "2/1,024", "-", "12,345", "1", "7",
    ]  # fmt: skip
    assert cells(lines[6]) == ["away", "away", "-", "-", "-", "-/-", "-", "-", "-", "-"]


def test_members_are_left_out_where_many_groups_are_shown() -> None:
    assert "MEMBER " not in plain([GROUP, GROUP], members=False)
    assert plain([], members=False).splitlines() == [plain([], members=False)]


def test_states_are_told_apart() -> None:
    behind = GROUP | {"is_behind": True, "is_durable": False, "backlog_s": None, "members": []}
    assert cells(plain([behind], members=True).splitlines()[1])[7:9] == ["-", "behind"]
    for is_durable, state in ((True, "in time, durable, on disk"), (False, "in time, on disk")):
        kept = GROUP | {"is_kept": True, "is_durable": is_durable}
        assert cells(plain([kept], members=False).splitlines()[1])[8] == state
    blind = MEMBER | {"is_blind": True, "is_closed": True, "overdue_ms": 12_345.0, "rtt_ms": 150.2}
    row = cells(plain([GROUP | {"members": [blind]}], members=True).splitlines()[-1])
    assert row[1:3] == ["here, blind, closed", "150 ms"]
    assert row[6] == "12.3 s"


def test_names_of_clients_are_shown_as_text() -> None:
    """Neither control characters nor the markup of the terminal's tables are taken from a client."""
    hostile = "\x1b[2J[bold]x\u202e"
    group = GROUP | {"name": hostile, "filter": hostile, "members": [MEMBER | {"client_id": hostile}]}
    out = io.StringIO()
    Console(file=out, width=250, force_terminal=False).print(on_terminal([group], members=True))
    for text in (plain([group], members=True), out.getvalue()):
        assert text.count("\\x1b[2J[bold]x\\u202e") == 5
        assert "\x1b" not in text


def test_the_terminal_shows_what_the_pipe_shows() -> None:
    out = io.StringIO()
    Console(file=out, width=200, force_terminal=True, color_system="standard").print(
        on_terminal([GROUP | {"is_behind": True}], members=True)
    )
    assert "\x1b[31m" in out.getvalue(), "a group that is behind is red"
    for text in ("alarms/#", "12,345", "behind, durable", "members of alarms"):
        assert text in out.getvalue()
