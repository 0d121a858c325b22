"""`lapwing swarm` over several processes against a real broker."""

from __future__ import annotations

import json

from commands import call

from lapwing import Broker


def test_a_process_that_only_listens_hears_the_last_message(lapwing_broker: Broker) -> None:
    """Two messages two seconds apart, and a process that has no publisher: does it stay until the second?"""
    options = ["--subscribers", "2", "--rate", "0.5", "--seconds", "4", "--processes", "2", "--qos", "1", "--no-spin"]
    result = call("swarm", "fan-out", *options, "--json", "--strict", "--url", lapwing_broker.url)
    report = json.loads(result.stdout)
    assert (report["sent"], report["expected"], report["delivered"], report["lost"]) == (2, 4, 4, 0), report
    assert result.returncode == 0
