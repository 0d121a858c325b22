"""Sessions as people read them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from lapwing.cli.sessions_table import expiry, session_row, span, state

NOW = datetime(2026, 1, 2, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (0.0, "0 s"),
        (0.25, "0.2 s"),
        (9.96, "10.0 s"),
        (59.4, "59 s"),
        (60, "1 min"),
        (125, "2 min 5 s"),
        (7_500, "2 h 5 min"),
        (273_600, "3 d 4 h"),
    ],
)
def test_a_span_in_its_two_largest_units(seconds: float, shown: str) -> None:
    assert span(seconds) == shown


@pytest.mark.parametrize(
    ("expiry_s", "ends_in_s", "shown"),
    [(None, None, "never"), (0, None, "0 s"), (600, None, "10 min"), (600, 30, "in 30 s"), (600, 0, "in 0 s")],
)
def test_expiry(expiry_s: int | None, ends_in_s: int | None, shown: str) -> None:
    assert expiry({"expiry_s": expiry_s, "ends_in_s": ends_in_s}) == shown


def test_how_long_it_has_been_away() -> None:
    assert state({"is_connected": True, "away_since": None}, NOW) == "connected"
    assert state({"is_connected": False, "away_since": "2026-01-02T11:58:00.000Z"}, NOW) == "away 2 min"
    assert state({"is_connected": False, "away_since": "2026-01-02T12:00:03.000Z"}, NOW) == "away 0 s", "clocks differ"


def test_a_client_id_moves_no_cursor() -> None:
    row = session_row(
        {
            "client_id": "a\x1b[2Jb",
            "is_connected": True,
            "away_since": None,
            "expiry_s": 0,
            "ends_in_s": None,
            "subscriptions": 1_000,
            "waiting_messages": 0,
            "waiting_bytes": 0,
            "inflight_out": 0,
            "inflight_in": 0,
            "lost_messages": 7,
            "shard": 1,
            "version": None,
            "user": None,
            "address": None,
        },
        NOW,
    )
    assert row[0] == "a\\x1b[2Jb"
    assert row[3:] == ("1,000", "0", "0", "0", "0", "7", "1", "-", "-", "-")
