"""SIGHUP: the tables of groups are read again, and what was changed by command meanwhile is left alone."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from commands import RunningBroker
from web import get

from lapwing import Broker
from lapwing.config import Config
from lapwing.errors import ConfigError

DEADLINE_S = 30
BEFORE = """\
[groups.alarms]
filters = ["alarms/#"]

[groups.gone]
filters = ["gone"]

[groups.same]
behind = "3s"
"""
AFTER = """\
[groups.alarms]
filters = ["alarms/#"]
strategy = "lef"

[groups.new]
filters = ["new"]

[groups.same]
behind = "3s"
"""


def settings(running: RunningBroker) -> dict[str, Any]:
    found: dict[str, Any] = get(f"{running.http}/v1/groups").json()["settings"]
    return found


def until(is_so: Callable[[], bool]) -> None:
    end = time.monotonic() + DEADLINE_S
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_groups_are_read_again(tmp_path: Path) -> None:
    """Are tables taken over that are new, changed or gone in the file, and with an error none of them?"""
    file = tmp_path / "lapwing.toml"
    file.write_text(BEFORE)
    with RunningBroker(tmp_path / "data", "--config", str(file)).wait_until_ready() as running:
        for name, table in (("same", {"behind": "7s"}), ("by-hand", {"strategy": "c3"})):
            get(f"{running.http}/v1/groups/{name}", method="PUT", content=json.dumps(table).encode())
        file.write_text(AFTER)
        running.process.send_signal(signal.SIGHUP)
        until(lambda: "new" in settings(running))
        now = settings(running)
        assert sorted(now) == ["alarms", "by-hand", "new", "same"]
        assert (now["alarms"]["strategy"], now["same"]["behind"]) == ("lef", "7s")
        until(
            lambda: [group["name"] for group in get(f"{running.http}/v1/groups").json()["groups"]] == ["alarms", "new"]
        )

        file.write_text(AFTER + '[groups.own]\nuse = "somewhere:Chooser"\n[groups.more]\nworkers = 2\n')
        running.process.send_signal(signal.SIGHUP)
        until(lambda: any("somewhere:Chooser" in line for line in running.errors))
        assert settings(running) == now, "all or none"
        assert running.end() == 0


def test_a_broker_in_this_process_reads_them_again() -> None:
    """Does `reload` with another configuration do the same, and once more with the same one nothing?"""

    def configured(**groups: dict[str, object]) -> Config:
        return Config(broker={"listen": ["tcp://127.0.0.1:0"], "http": None}, groups=groups)  # type: ignore[arg-type]

    with Broker(groups={"a": {"filters": ["a"]}}) as broker:
        changed = configured(a={"filters": ["a"], "strategy": "random"}, b={"filters": ["b"]})
        broker.reload(changed)
        until(
            lambda: (
                [(group["name"], group["strategy"]) for group in broker.groups()] == [("a", "random"), ("b", "auto")]
            )
        )
        broker.put_group("b", {"filters": ["b"], "strategy": "lef"})
        broker.reload(changed)
        until(lambda: broker.groups()[1]["strategy"] == "lef")
        with pytest.raises(ConfigError, match="was not loaded when the broker started"):
            broker.reload(configured(b={"use": "somewhere:Chooser"}))
        assert [group["name"] for group in broker.groups()] == ["a", "b"]
