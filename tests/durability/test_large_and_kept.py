"""A message that is larger than what may wait for the log: is a message alone ever too much?"""

from __future__ import annotations

from pathlib import Path

import pytest

from lapwing import Broker, Client

SLEEPERS = 8
LARGE = b"x" * 300_000


@pytest.mark.parametrize("version", [4, 5])
def test_its_publisher_stays_however_many_sessions_keep_it(version: int, tmp_path: Path) -> None:
    """Streams and data groups write it down: that is many times the mark from which publishers are sent away."""
    limits = {"log_lane_bytes": 1 << 10}
    streams = {"all": {"filter": "t/#"}}
    with Broker(data=tmp_path, shards=2, limits=limits, streams=streams) as broker:
        for number in range(SLEEPERS):
            with Client(broker.url, client_id=f"s{number}", clean_start=False, session_expiry_s=3_600) as sleeper:
                sleeper.subscribe("t/#", qos=1)
        with Client(broker.url, version=version) as publisher:
            for _ in range(3):
                publisher.publish("t/x", LARGE, qos=1)
        dismissed = [value for name, value in broker.metrics().items() if "closed_total" in name and "quota" in name]
        assert not any(dismissed)
