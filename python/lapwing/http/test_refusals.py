"""Is who is refused in the log, on one line of its own kind, and seldom?"""

from __future__ import annotations

import pytest

from lapwing.http import refusals
from lapwing.http.counters import HttpCounters
from lapwing.http.refusals import Refusals


def test_one_line_a_minute_of_a_kind(caplog: pytest.LogCaptureFixture) -> None:
    told = Refusals()
    for number in range(5):
        told.request(403, "DELETE", f"/v1/sessions/{number}\nnotice: \x1b[2J" + "x" * 200, "192.0.2.1", "eve\u202e")
    told.request(401, "GET", "/v1/streams", "192.0.2.1", None)
    first, second = caplog.messages
    assert first.startswith(r"HTTP answers 403 to 192.0.2.1 (eve\u202e) for DELETE /v1/sessions/0\nnotice: \x1b[2J")
    assert len(first) < 200
    assert second == "HTTP answers 401 to 192.0.2.1 for GET /v1/streams: it shows no credentials"


def test_a_method_has_no_more_than_a_beginning(caplog: pytest.LogCaptureFixture) -> None:
    """It may have 64 KiB, which were one line of the log."""
    Refusals().request(401, "PROPFIND" * 100, "/", "192.0.2.1", None)
    Refusals().request(401, "PROPPATCH", "/", "192.0.2.1", None)
    assert [line.partition(" for ")[2].partition(":")[0] for line in caplog.messages] == [
        "PROPFINDPROPFIND /",
        "PROPPATCH /",
    ]


@pytest.mark.parametrize(
    ("token", "shown"),
    [("lapwing_" + "aB-_0" * 9, "lapwing_***"), ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhIn0.c2lnbmVk", "***")],
)
def test_a_token_in_a_path_stays_secret(token: str, shown: str, caplog: pytest.LogCaptureFixture) -> None:
    Refusals().request(401, "GET", f"/v1/sessions/{token}/x", "192.0.2.1", None)
    assert caplog.messages == [f"HTTP answers 401 to 192.0.2.1 for GET /v1/sessions/{shown}/x: it shows no credentials"]


@pytest.mark.parametrize("begun", ["lapwing_" + "aB-_0" * 9, "eyJhbGciOiJIUzI1NiJ9.eyJzdWIi", "eyJhbGciOiJIUzI1NiJ9"])
def test_of_a_long_path_the_beginning_is_looked_at(
    begun: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """64 KiB of `ey-` took 20 s, in which nobody was answered. Is a token that is cut in two hidden still?"""
    looked_at: list[int] = []

    class Noting:
        def sub(self, by: str, text: str) -> str:
            looked_at.append(len(text))
            return pattern.sub(by, text)

    pattern = refusals._TOKEN
    monkeypatch.setattr(refusals, "_TOKEN", Noting())
    Refusals().request(413, "POST", f"/v1/{begun}" + "x" * 60_000, "192.0.2.1", None)
    assert looked_at[0] < 300
    (line,) = caplog.messages
    assert "POST /v1/" in line
    assert "***" in line
    assert "aB-_0" not in line
    assert "eyJ" not in line


def test_connections_are_counted_and_told(caplog: pytest.LogCaptureFixture) -> None:
    counters = HttpCounters()
    for name in ("late", "refused", "late"):
        counters.ended(f"lapwing_http_connections_{name}_total", "192.0.2.1")
    counters.no_http("192.0.2.1")
    assert "lapwing_http_connections_late_total 2" in counters.text()
    assert [line.partition(": ")[2] for line in caplog.messages] == [
        "no whole request within http.keep_alive",
        "http.connections_max are open",
        "what it sent is no HTTP/1.1",
    ]
    assert 'lapwing_http_requests_total{route="unknown",status="400"} 1' in counters.text()
