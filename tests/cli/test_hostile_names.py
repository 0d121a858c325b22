"""Every command that prints what a peer chose: is it escaped, on its line, whatever it is made of?"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from commands import call
from commands import lapwing as lapwing_command

import lapwing
from lapwing.cli.app import COMMANDS
from lapwing.client.will import Will
from lapwing.config import Config

HOSTILE = "x\nFORGED\r \x1b[2J\x1b]0;t\x07\x9b31m\x85\u2028\u202egnp\u2066\u200b\u00ady"
"""A line of its own, a screen that is cleared, a title, C1 controls, separators, marks of direction, no width."""

NOT_WALKED = {
    "broker": "test_the_log_of_a_broker",
    "demo": "prints figures of its own; the page is tested beside the report",
    "bridge": "its notices go through the same function as a broker's: test_notices_are_one_line",
    "pipeline": "prints counts, and errors as all commands do",
    "swarm": "prints counts, and labels through the same function: lapwing.cli.test_swarm",
    "lab": "its own devices",
    "service": "prints paths of this machine",
    "config": "test_a_configuration",
    "cluster": "prints what nodes with a certificate say: lapwing.cli.test_cluster_table; of a demo its own names",
    "pub": "test_an_error_that_quotes",
}
"""Commands that print nothing of a peer's, or are looked at elsewhere."""


@dataclass
class Node:
    """A broker in which everything has a hostile name."""

    broker: lapwing.Broker
    folder: Path

    @property
    def http(self) -> tuple[str, str]:
        return "--url", self.broker.http_url


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Node]:
    folder = tmp_path_factory.mktemp("hostile")
    settings = {
        "data": folder / "data",
        "http": "127.0.0.1:0",
        "shards": 1,
        "streams": {"s": {"filter": "s/#"}},
        "audit": {"file": folder / "audit.jsonl"},
    }
    with lapwing.Broker(**settings) as broker:
        name = HOSTILE
        will = Will(f"w/{name}", name.encode())
        kept = lapwing.Client(broker.url, client_id=name, session_expiry_s=600, clean_start=False, will=will)
        with kept:
            kept.subscribe([f"q/{name}", f"$share/g{name}/{name}"], qos=1)
            kept.disconnect(session_expiry_s=600)
        online = lapwing.Client(broker.url, client_id=f"online{name}").connect()
        online.subscribe([f"o/{name}", f"$share/h{name}/o/#"], qos=1)
        for topic in (f"r/{name}", f"s/{name}", f"q/{name}"):
            online.publish(
                topic, name, qos=1, retain=topic[0] == "r", user_properties=[(name, name)], content_type=name
            )
        online.flush()
        yield Node(broker, folder)
        online.abort()


def check(printed: str, *, is_json: bool = False) -> None:
    """Nothing that a terminal obeys, no line that begins as forged, and the name is there."""
    odd = {c for c in printed if c != "\n" and (unicodedata.category(c)[0] == "C" or c in "\u2028\u2029\x85")}
    assert not odd, f"{odd!r} in {printed!r}"
    assert not [line for line in printed.splitlines() if line.lstrip().startswith("FORGED")], printed
    assert "FORGED" in printed, "nothing of a peer's is in it: this test sees nothing"
    if is_json:
        for line in printed.splitlines():
            json.loads(line)


def test_every_command_is_walked_or_left_out_for_a_reason() -> None:
    walked = {"sub", "shell", "stream", "groups", "clients", "sessions", "queues", "bans", "store", "audit", "user"}
    assert set(COMMANDS) == walked | set(NOT_WALKED)


@pytest.mark.parametrize("as_json", [False, True], ids=["text", "json"])
@pytest.mark.parametrize(
    "command",
    [
        ("stream", "read", "s", "0"),
        ("clients",),
        ("sessions",),
        ("sessions", "show", f"online{HOSTILE}"),
        ("sessions", "show", HOSTILE),
        ("queues",),
        ("queues", "show", HOSTILE),
        ("groups",),
    ],
    ids=lambda command: "-".join(command[:2]) if isinstance(command, tuple) else None,
)
def test_over_http(node: Node, command: tuple[str, ...], as_json: bool) -> None:
    done = call(*command, *node.http, *(["--json"] if as_json else []))
    assert done.returncode == 0, done.stderr
    check(done.stdout, is_json=as_json)
    assert "\x1b" not in done.stderr


@pytest.mark.parametrize("as_json", [False, True], ids=["text", "json"])
def test_sub(node: Node, as_json: bool) -> None:
    options = ["--json"] if as_json else []
    done = call("sub", "r/#", "--url", node.broker.url, "--count", "1", "--timeout", "30", *options)
    assert done.returncode == 0, done.stderr
    check(done.stdout, is_json=as_json)


def test_shell(node: Node) -> None:
    script = f"connect a --url {node.broker.url}\nsub r/#\nwait --timeout 30\nclients\n"
    done = lapwing_command("shell", "--url", node.broker.url, stdin=script.encode())
    assert done.returncode == 0, done.stderr
    check(done.stdout)


def test_an_error_that_quotes(node: Node) -> None:
    for command in (
        ("pub", f"a/#/{HOSTILE}", "x", "--url", node.broker.url),
        ("sub", f"a/#/{HOSTILE}", "--url", node.broker.url),
        ("sessions", "show", f"nobody{HOSTILE}", *node.http),
        ("stream", "info", HOSTILE, *node.http),
        ("queues", "drop", f"nobody{HOSTILE}", "--yes", *node.http),
    ):
        done = call(*command)
        assert done.returncode != 0
        check(done.stderr)
        assert len(done.stderr.splitlines()) == 1


def test_bans(tmp_path: Path) -> None:
    users = tmp_path / "users.toml"
    assert call("user", "add", "root", "--no-password", "--users", str(users)).returncode == 0
    token = call("user", "token", "root", "--users", str(users)).stdout.strip()
    (tmp_path / "token").write_text(token)
    auth = {"users": users, "failures_name_max": 1, "failures_bar_local": True}
    where = {"listen": ["tcp://127.0.0.1:0"], "http": "127.0.0.1:0", "data": tmp_path / "data", "shards": 1}
    config = Config(broker=where, auth=auth, rules=[{"identity": "root", "may": ["admin"]}])
    with lapwing.Broker.from_config(config) as broker:
        with pytest.raises(lapwing.LapwingError):
            lapwing.Client(broker.url, client_id=HOSTILE, username=HOSTILE, password="wrong").connect()
        bans = call("bans", "--url", broker.http_url, "--token-file", str(tmp_path / "token"))
        assert bans.returncode == 0, bans.stderr
        check(bans.stdout)
        check("\n".join(line.text for line in broker.log() if "FORGED" in line.text))


def test_the_log_of_a_broker(node: Node) -> None:
    """Connections, refusals, events: each a line."""
    told = node.broker.log()
    assert any(line.subject == "clients" and "FORGED" in line.text for line in told)
    assert all(line.text.isprintable() for line in told)
    check("\n".join(line.text for line in told if "FORGED" in line.text))


def test_the_audit_trail(node: Node) -> None:
    trail = (node.folder / "audit.jsonl").read_text()
    assert trail.isascii()
    for line in trail.splitlines():
        json.loads(line)
    assert "FORGED" in trail


def test_a_configuration(tmp_path: Path) -> None:
    file = tmp_path / "lapwing.toml"
    file.write_text(f"[broker]\n{json.dumps(HOSTILE)} = 1\nlisten = [{json.dumps('tcp://' + HOSTILE + ':1')}]\n")
    done = call("config", "check", str(file))
    assert done.returncode == 2
    check(done.stderr)


def test_users(tmp_path: Path) -> None:
    users = tmp_path / "users.toml"
    done = call("user", "add", HOSTILE, "--no-password", "--users", str(users))
    assert done.returncode == 2
    check(done.stderr)
    assert len(done.stderr.splitlines()) == 1
    users.write_text(f"[users.{json.dumps(HOSTILE)}]\n")
    users.chmod(0o600)
    done = call("user", "list", "--users", str(users))
    check(done.stderr + done.stdout)


@pytest.mark.parametrize("as_json", [False, True], ids=["text", "json"])
def test_a_data_folder(tmp_path: Path, as_json: bool) -> None:
    with lapwing.Broker(data=tmp_path / "data", shards=1) as broker:
        kept = lapwing.Client(broker.url, client_id=HOSTILE, session_expiry_s=600, clean_start=False)
        kept.connect()
        kept.subscribe(f"q/{HOSTILE}", qos=1)
        kept.publish(f"r/{HOSTILE}", HOSTILE, qos=1, retain=True)
        kept.flush()
        kept.disconnect()
    options = ["--json"] if as_json else []
    done = call("store", "dump", str(tmp_path / "data"), *options)
    assert done.returncode == 0, done.stderr
    check(done.stdout, is_json=as_json)
