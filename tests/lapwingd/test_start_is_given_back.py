"""Is less resident in a while than at the start, whose pages are not needed any more, and does the broker go on?"""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from commands import RunningBroker
from daemon import Daemon

from lapwing import Client

LESS_KIB = 2048
DEADLINE_S = 30
CONFIGURATION = '[broker]\nlisten = "tcp://127.0.0.1:0"\nhttp = "127.0.0.1:0"\ndata = "data"\ndrain = "0s"\n'


def resident_kib(pid: int) -> tuple[int, int]:
    """At most until now, and now."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    said = dict(line.split(":", 1) for line in lines)
    return int(said["VmHWM"].split()[0]), int(said["VmRSS"].split()[0])


def wait_until_less_is_resident(pid: int) -> None:
    deadline = time.monotonic() + DEADLINE_S
    while True:
        most_kib, now_kib = resident_kib(pid)
        if most_kib - now_kib >= LESS_KIB:
            return
        assert time.monotonic() < deadline, f"{now_kib} KiB of {most_kib} KiB"
        time.sleep(0.1)


def check_it_goes_on(url: str) -> None:
    with Client(url) as client:
        client.subscribe("t", qos=1)
        client.publish("t", "after", qos=1)
        message = client.receive(DEADLINE_S)
        assert message
        assert message.payload == b"after"


def test_of_lapwingd(program: Path, tmp_path: Path) -> None:
    (tmp_path / "lapwing.toml").write_text(CONFIGURATION)
    with Daemon(program, tmp_path) as daemon:
        wait_until_less_is_resident(daemon.pid)
        check_it_goes_on(daemon.url)


@pytest.mark.parametrize("arguments", [(), ("--profile", "edge")], ids=["standard", "edge"])
def test_of_the_package(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    with RunningBroker(tmp_path / "data", *arguments).wait_until_ready() as broker:
        wait_until_less_is_resident(broker.process.pid)
        check_it_goes_on(broker.url)
