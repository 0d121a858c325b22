"""Is who is refused in the log, on one line of its own kind, and seldom?"""

from __future__ import annotations

import pytest

from lapwing.http.counters import HttpCounters
from lapwing.http.refusals import Refusals


def test_one_line_a_minute_of_a_kind(caplog: pytest.LogCaptureFixture) -> None:
    refusals = Refusals()
    for number in range(5):
        refusals.request(403, "DELETE", f"/v1/sessions/{number}\nnotice: \x1b[2J" + "x" * 200, "192.0.2.1", "eve\u202e")
    refusals.request(401, "GET", "/v1/streams", "192.0.2.1", None)
    first, second = caplog.messages
    assert first.startswith(r"HTTP answers 403 to 192.0.2.1 (eve\u202e) for DELETE /v1/sessions/0\nnotice: \x1b[2J")
    assert len(first) < 200
    assert second == "HTTP answers 401 to 192.0.2.1 for GET /v1/streams: it shows no credentials"


@pytest.mark.parametrize(
    ("token", "shown"),
    [("lapwing_" + "aB-_0" * 9, "lapwing_***"), ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhIn0.c2lnbmVk", "***")],
)
def test_a_token_in_a_path_stays_secret(token: str, shown: str, caplog: pytest.LogCaptureFixture) -> None:
    Refusals().request(401, "GET", f"/v1/sessions/{token}/x", "192.0.2.1", None)
    assert caplog.messages == [f"HTTP answers 401 to 192.0.2.1 for GET /v1/sessions/{shown}/x: it shows no credentials"]


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
