"""What waits beside a running broker, without one: when is its supervisor given a sign of life?"""

from __future__ import annotations

import os
import signal
import socket
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from lapwing.cli.broker_loop import serve
from lapwing.config.log import LogSection
from lapwing.log.printer import LogPrinter


class MadeBroker:
    """A broker of which one says whether it goes on; the third look at it ends it."""

    def __init__(self, is_going_on: bool) -> None:
        section = SimpleNamespace(data=Path("data"), durability="memory", drain=0)
        self.config = SimpleNamespace(broker=section, streams={}, cluster=SimpleNamespace(name=None))
        self.urls = ("tcp://127.0.0.1:1",)
        self.within_s: list[float] = []
        self._is_going_on = is_going_on

    def start(self) -> None:
        pass

    def stop(self, drain_s: float = 0.0) -> None:
        pass

    def disk_syncs(self) -> tuple[int, int]:
        return (0, 0)

    def log(self) -> list[object]:
        return []

    def check(self) -> None:
        pass

    def start_progress(self) -> tuple[int, int]:
        return (0, 0)

    def is_going_on(self, within_s: float) -> bool:
        self.within_s.append(within_s)
        os.kill(os.getpid(), signal.SIGTERM)
        return self._is_going_on


class AskedByOthers(MadeBroker):
    """A broker at which somebody sends what another one writes its state at, and then SIGTERM."""

    def is_going_on(self, within_s: float) -> bool:
        if self.within_s:
            return True
        for number in (signal.SIGUSR1, signal.SIGUSR2, signal.SIGUSR1):
            os.kill(os.getpid(), number)
        return super().is_going_on(within_s)


def test_a_signal_of_other_brokers_ends_nothing() -> None:
    """It ended ours, at once."""
    said = list[str]()
    broker: Any = AskedByOthers(is_going_on=True)
    config: Any = None
    printer = LogPrinter(lambda line: said.append(line.text), LogSection())
    assert serve(broker, lambda: None, config, printer) == 0
    assert [line.replace(";", ":").partition(":")[0] for line in said] == ["SIGUSR1", "SIGUSR2", "draining"]


@pytest.mark.parametrize("is_going_on", [True, False])
def test_a_thread_that_stands_still_is_no_life(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_going_on: bool
) -> None:
    """Is the watchdog given nothing while a thread does not go on, though no thread has failed?"""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as heard:
        heard.bind(str(tmp_path / "notify"))
        heard.settimeout(30)
        monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "notify"))
        monkeypatch.setenv("WATCHDOG_USEC", "30000000")
        monkeypatch.delenv("WATCHDOG_PID", raising=False)
        broker: Any = MadeBroker(is_going_on)
        config: Any = None
        assert serve(broker, lambda: None, config, LogPrinter(lambda _line: None, LogSection())) == 0
        said: list[str] = []
        while "STOPPING=1" not in said:
            said += heard.recv(4096).decode().splitlines()
    assert ("WATCHDOG=1" in said) is is_going_on
    assert broker.within_s == [10.0], "a third of the watchdog's time"
