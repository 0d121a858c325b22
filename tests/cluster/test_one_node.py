"""A cluster of one: is it made of a folder, does it go on with what was there, and is what must be refused refused?"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from commands import RunningBroker, call, lapwing, one_error
from web import get

import lapwing as package
from lapwing.errors import BrokerError, ConfigError

DEADLINE_S = 30
KEPT = ("--qos", "1", "--retain")
NAME = ("--set", "cluster.name=north", "--set", "cluster.listen=127.0.0.1:0")


def poll(is_so: Callable[[], object]) -> None:
    """Waits until it is so."""
    deadline = time.monotonic() + DEADLINE_S
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def init(data: Path, *settings: str) -> Any:
    return call("cluster", "init", "--set", f"broker.data={data}", *NAME, *settings)


def status(http: str) -> Any:
    return json.loads(get(f"{http}/v1/cluster").content)


def serving_url(broker: RunningBroker) -> str:
    """Where its clients connect, once it says so."""

    def told() -> list[str]:
        return [line for line in broker.errors if "serves cluster" in line]

    poll(told)
    return told()[0].rpartition(" ")[2]


def test_a_folder_becomes_a_cluster_and_goes_on(tmp_path: Path) -> None:
    """Is what waits in the folder of a broker on its own there when the cluster serves, and after a kill?"""
    data = tmp_path / "data"
    with RunningBroker(data).wait_until_ready() as broker:
        assert lapwing("pub", "--url", broker.url, "alarms/1", "before", *KEPT).returncode == 0
        assert broker.end() == 0
    made = init(data)
    assert (made.returncode, made.stderr) == (0, "")
    assert one_error(init(data)).startswith(f"{data} is a member's folder already")
    with RunningBroker(data, *NAME).wait_until_ready() as broker:
        assert set(broker.urls) == {"cluster", "http"}
        assert lapwing("pub", "--url", serving_url(broker), "alarms/2", "after", *KEPT).returncode == 0
        broker.process.kill()
        broker.process.wait()
    with RunningBroker(data, *NAME).wait_until_ready() as broker:
        heard = lapwing("sub", "--url", serving_url(broker), "alarms/#", "--count", "2", "--timeout", "30")
        assert sorted(heard.stdout.splitlines()) == ["alarms/1 before", "alarms/2 after"]
        found = status(broker.http)
        assert (found["role"], found["name"], [node["name"] for node in found["nodes"]]) == (
            "active",
            "lapwing",
            ["north"],
        )
        assert get(f"{broker.http}/readyz").status_code == 200
        assert "lapwing_cluster_active 1" in get(f"{broker.http}/metrics").text
        shown = call("cluster", "status", "--url", broker.http)
        assert (shown.returncode, shown.stdout.splitlines()[1].split()[:3]) == (0, ["north", "active", "yes"])
        asked = call("cluster", "step-down", "--url", broker.http)
        assert "nobody to serve in place of this one" in one_error(asked)
        assert broker.end() == 0
    alone = lapwing("broker", "--data", str(data), "--listen", "tcp://127.0.0.1:0", "--http", "off")
    assert (alone.returncode, "lapwing cluster init" in one_error(alone)) == (1, True)


def test_what_cannot_be_a_member_says_what_to_do(tmp_path: Path) -> None:
    """A folder of no cluster, a table without a name, and settings that a cluster cannot have."""
    data = tmp_path / "data"
    ports = ("--listen", "tcp://127.0.0.1:0", "--http", "off", "--data", str(data))
    refused = lapwing("broker", *ports, *NAME)
    assert refused.returncode == 1
    assert "lapwing cluster init" in one_error(refused)
    refused = lapwing("broker", *ports, "--set", "cluster.zone=a")
    assert (refused.returncode, "name is missing" in one_error(refused)) == (2, True)
    refused = lapwing("broker", *ports, *NAME, "--set", "broker.durability=memory")
    assert refused.returncode == 2
    assert "broker.durability" in one_error(refused)
    assert "[cluster]" in one_error(refused)
    refused = lapwing("broker", *ports, *NAME, "--set", "streams.s.filter=a")
    assert refused.returncode == 2
    assert "streams" in one_error(refused)
    assert "[cluster]" in one_error(refused)
    file = tmp_path / "lapwing.toml"
    file.write_text(
        f"[broker]\ndata = '{data}'\nlisten = 'tcp://127.0.0.1:0'\nhttp = 'off'\n[cluster]\nname = 'north'\n"
    )
    checked = call("config", "check", str(file))
    assert (checked.returncode, "is no member's folder" in checked.stderr) == (2, True), checked
    refused = call("cluster", "init", "--set", f"broker.data={data}")
    assert (refused.returncode, "there is no [cluster]" in one_error(refused)) == (2, True)


def test_a_running_broker_is_not_made_a_cluster(tmp_path: Path) -> None:
    """And who asks it for its cluster hears that it has none."""
    with RunningBroker(tmp_path / "data").wait_until_ready() as broker:
        assert "in use by process" in one_error(init(tmp_path / "data"))
        assert get(f"{broker.http}/v1/cluster").status_code == 404
        asked = call("cluster", "status", "--url", broker.http)
        assert (asked.returncode, "no member of a cluster" in one_error(asked)) == (1, True)


def test_in_python(tmp_path: Path) -> None:
    """Does a broker of this process say where it stands, and is a change of what all nodes share refused?"""
    from lapwing.config import Config

    tables: dict[str, Any] = {
        "broker": {"listen": ["tcp://127.0.0.1:0"], "http": None, "data": tmp_path / "data", "pin": False}
    }
    tables["cluster"] = {"name": "north", "listen": "127.0.0.1:0"}
    config = Config.model_validate(tables)
    assert init(tmp_path / "data").returncode == 0
    with package.Broker.from_config(config) as broker:
        poll(lambda: broker.is_serving)
        assert broker.cluster()["leads"] == 16
        with pytest.raises(ConfigError, match="groups cannot change while a cluster runs"):
            broker.reload(Config.model_validate({**tables, "groups": {"g": {}}}))
        with pytest.raises(BrokerError, match="nobody to serve"):
            broker.step_down()
        with pytest.raises(BrokerError, match="node 2 cannot serve in place of this node: it does not belong"):
            broker.step_down(2)
