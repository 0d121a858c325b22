"""The audit trail of a whole broker: who came, was refused, changed what; under attack, and never a secret."""

from __future__ import annotations

import contextlib
import json
import shutil
import signal
import stat
import sys
import urllib.request
from base64 import b64encode
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.parse import quote

import pytest

TESTS = Path(__file__).parent.parent
sys.path[:0] = [str(TESTS / "broker"), str(TESTS / "conformance"), str(TESTS)]

import wire  # noqa: E402
from commands import RunningBroker, call  # noqa: E402
from peer import Peer  # noqa: E402

import lapwing  # noqa: E402
from lapwing._core import hash_password  # noqa: E402
from lapwing.auth import User, new_token, update_users  # noqa: E402
from lapwing.config import AuthSection, Config  # noqa: E402
from lapwing.errors import BrokerError, ConfigError  # noqa: E402

PASSWORD = "correct-horse-battery"
WRONG = "staple-of-a-guesser"
FORGED = 'x\n{"seq":1,"event":"started"}\x1b[2J\u202egnp\x9b31m'
RULES: list[dict[str, object]] = [
    {"identity": "alice", "may": ["admin"]},
    {"identity": "*", "may": ["publish", "subscribe"], "topics": ["open/#"]},
]


@pytest.fixture
def token(tmp_path: Path) -> str:
    """Users alice and bob, and a token of alice's."""
    made, digest = new_token()
    hashed = hash_password(PASSWORD.encode())
    with update_users(tmp_path / "users.toml") as users:
        users["alice"] = User("alice", hashed, {"test": digest})
        users["bob"] = User("bob", hashed)
    return made


Start = Callable[..., lapwing.Broker]


@pytest.fixture
def start(tmp_path: Path, token: str) -> Start:
    """Makes brokers with a trail."""

    def make(**audit: object) -> lapwing.Broker:
        return lapwing.Broker(
            shards=2,
            http="127.0.0.1:0",
            users=tmp_path / "users.toml",
            rules=RULES,
            audit={"file": str(tmp_path / "audit.jsonl"), **audit},
        )

    return make


def events(folder: Path, name: str = "") -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in (folder / "audit.jsonl").read_text().splitlines()]
    return [line for line in lines if not name or line["event"] == name]


def request(broker: lapwing.Broker, method: str, path: str, authorization: str = "", **more: str) -> int:
    headers = {"Authorization": authorization, **more} if authorization else more
    asked = urllib.request.Request(broker.http_url + path, method=method, headers=headers)
    try:
        with urllib.request.urlopen(asked, timeout=30) as answer:
            return int(answer.status)
    except HTTPError as error:
        return error.code


def basic(name: str, password: str) -> str:
    return "Basic " + b64encode(f"{name}:{password}".encode()).decode()


def join(broker: lapwing.Broker, name: str, client_id: str) -> Peer:
    peer = Peer(broker.url, 5)
    peer.join(client_id, username=name, password=PASSWORD)
    return peer


def guess(broker: lapwing.Broker, client_id: str, name: str | None, password: str | None) -> None:
    with Peer(broker.url, 5) as peer:
        peer.send(wire.connect(client_id, version=5, username=name, password=password))
        assert peer.expect(wire.CONNACK).reason in (0x86, 0x87)


def test_who_came_was_refused_and_changed_what(start: Start, tmp_path: Path, token: str) -> None:
    """Has each thing its line, in the order of one trail that is whole, its owner's alone and without a secret?"""
    with start() as broker:
        with join(broker, "alice", "a") as alice, join(broker, "bob", FORGED) as bob:
            guess(broker, "guesser", "bob", WRONG)
            guess(broker, token, token, WRONG)
            bob.send(wire.publish("closed/" + FORGED.replace("\n", ""), b"", qos=1, version=5))
            assert bob.expect(wire.PUBACK).reason == 0x87
            assert bob.subscribe_to("closed/#") == b"\x87"
            assert request(broker, "GET", "/v1/sessions?secret=" + WRONG, basic("bob", WRONG)) == 401
            assert request(broker, "DELETE", "/v1/sessions/a?token=" + token, basic("bob", PASSWORD)) == 403
            assert request(broker, "DELETE", "/v1/sessions/a", f"Bearer {token}", Origin="http://evil.example") == 403
            assert request(broker, "GET", "/healthz", Host="evil.example") == 421
            assert request(broker, "DELETE", "/v1/queues/a", f"Bearer {token}") == 200
            assert request(broker, "DELETE", "/v1/sessions/nobody", f"Bearer {token}") == 404
            assert request(broker, "DELETE", "/v1/sessions/" + quote(FORGED), f"Bearer {token}") == 204
            alice.publish("open/x", b"payload-of-alice", qos=1)
        broker.put_group("alarms", {"filters": ["open/#"]})
        with update_users(tmp_path / "users.toml") as users:
            users["carol"] = User("carol", users.pop("bob").password)
        broker.reload(Config(auth=AuthSection(users=tmp_path / "users.toml"), rules=RULES))
        with pytest.raises(ConfigError):
            broker.reload(Config(auth=AuthSection(users=tmp_path / "users.toml"), rules=[]))

    text = (tmp_path / "audit.jsonl").read_text()
    assert text.isascii()
    assert not any(secret in text for secret in (PASSWORD, WRONG, token, token[10:], "argon2", "payload-of-alice"))
    assert not any(ord(character) < 0x20 for line in text.splitlines() for character in line)
    assert stat.S_IMODE((tmp_path / "audit.jsonl").stat().st_mode) == 0o600

    lines = events(tmp_path)
    assert [line["seq"] for line in lines] == list(range(1, len(lines) + 1))
    assert (lines[0]["event"], lines[1]["event"], lines[-1]["event"]) == ("started", "configured", "stopped")
    assert (lines[1]["users"], lines[1]["rules"]) == (2, 2)
    came = events(tmp_path, "connected")
    assert {(line["client_id"], line["username"], line["by"]) for line in came} == {
        ("a", "alice", "users"),
        (FORGED, "bob", "users"),
    }
    assert [came[0]["listener"]] == lines[0]["listeners"]
    assert len(events(tmp_path, "disconnected")) == 2
    refused = events(tmp_path, "refused")
    assert [(line["client_id"], line["claimed_username"]) for line in refused] == [
        ("guesser", "bob"),
        ("lapwing_***", "lapwing_***"),
    ]
    assert refused[0]["address"].startswith("127.0.0.1:")
    assert [line["username"] for line in events(tmp_path, "publish_refused")] == ["bob"]
    assert [line["topic"] for line in events(tmp_path, "subscribe_refused")] == ["closed/#"]
    over_http = events(tmp_path, "http_refused")
    assert [(line["status"], line["claimed_username"], line["username"]) for line in over_http] == [
        (401, "bob", None),
        (403, "bob", "bob"),
        (403, None, None),
        (421, None, None),
    ]
    changes = events(tmp_path, "change")
    assert [(line["path"], line.get("username"), line.get("status"), line["result"]) for line in changes] == [
        ("/v1/queues/a", "alice", 200, {"messages": 0, "bytes": 0}),
        ("/v1/sessions/nobody", "alice", 404, None),
        ("/v1/sessions/" + FORGED, "alice", 204, None),
        ("alarms", None, None, None),
    ]
    (reload,) = events(tmp_path, "access_reloaded")
    assert (reload["users_added"], reload["users_removed"]) == (["carol"], ["bob"])
    assert events(tmp_path, "reload_failed")[0]["where"] == "auth.no_rules"

    whole = call("audit", "verify", str(tmp_path / "audit.jsonl"))
    assert (whole.returncode, whole.stderr) == (0, ""), whole
    (tmp_path / "audit.jsonl").write_text(text.replace('"guesser"', '"guessed"'))
    touched = call("audit", "verify", str(tmp_path / "audit.jsonl"))
    assert touched.returncode == 1
    assert "audit.jsonl:" in touched.stderr
    assert "was changed" in touched.stderr


def test_other_keys_are_in_the_trail(tmp_path: Path) -> None:
    """Is a reload that changes whom the broker believes, and nothing else, told of, with no key in it?"""
    secret, psk = tmp_path / "jwt.secret", tmp_path / "devices.psk"
    secret.write_text("first-secret-" * 5)
    psk.write_text(f"device-7:{'ab' * 32}\n")
    config = Config.model_validate(
        {
            "broker": {"listen": ["tcp://127.0.0.1:0"], "http": "off"},
            "listeners": [{"url": "sns://127.0.0.1:0", "psk": psk}],
            "auth": {"jwt": {"secret_file": secret, "algorithms": ["HS256"]}},
            "audit": {"file": tmp_path / "audit.jsonl"},
        }
    )
    with lapwing.Broker.from_config(config) as broker:
        broker.reload()
        secret.write_text("other-secret-" * 5)
        psk.write_text(f"device-7:{'cd' * 32}\n")
        broker.reload()
    assert events(tmp_path, "configured")[0]["others"] == ["jwt"]
    assert [line["auth_changed"] for line in events(tmp_path, "access_reloaded")] == [[], ["jwt"]]
    assert [line["files_changed"] for line in events(tmp_path, "reloaded")] == [[], ["sns://127.0.0.1:0"]]
    text = (tmp_path / "audit.jsonl").read_text()
    assert not any(key in text for key in ("first-secret", "other-secret", "abab", "cdcd"))


def test_a_flood_of_refusals_is_bounded(start: Start, tmp_path: Path) -> None:
    """Does a client that is refused thousands of times leave bounded lines, in trail and notices, all counted?"""
    with start(refusals_per_minute=5) as broker:
        with join(broker, "bob", "b") as bob:
            for _ in range(2_000):
                bob.send(wire.publish("closed", b"", qos=0, version=5))
            bob.publish("open/x", qos=1)
        count = broker.metrics()
        refused = count['lapwing_not_authorized_total{what="publish"}']
        left_out = count['lapwing_audit_left_out_total{of="publish"}']
        told = count['lapwing_notices_total{kind="refused"}']
        assert refused == 2_000
        # So many more for each minute that a slow machine takes.
        assert left_out >= 1_900
        assert told <= refused / 4
        assert told + count['lapwing_notices_left_out_total{kind="refused"}'] == refused
        assert any('may not publish to "closed"' in line for line in broker.notices())
    assert 5 <= len(events(tmp_path, "publish_refused")) == refused - left_out


def test_a_trail_goes_on_over_starts(start: Start, tmp_path: Path) -> None:
    """Is it one chain over a stop and a start, and is a start refused behind a line that was changed?"""
    for _ in range(2):
        with start(), pytest.raises(ConfigError) as second, start():
            pass
        assert "another broker writes it" in str(second.value)
    assert [line["event"] for line in events(tmp_path)].count("started") == 2
    assert call("audit", "verify", str(tmp_path / "audit.jsonl")).returncode == 0
    text = (tmp_path / "audit.jsonl").read_text()
    (tmp_path / "audit.jsonl").write_text(text.replace("stopped", "starved"))
    with pytest.raises(ConfigError) as touched, start():
        pass
    assert "it was changed" in str(touched.value)


def test_without_a_file_there_is_none(tmp_path: Path) -> None:
    """Is it off by default, and is there nothing to verify then?"""
    with lapwing.Broker() as broker:
        assert broker.metrics()["lapwing_audit_events_total"] == 0
    assert call("audit", "verify", str(tmp_path / "audit.jsonl")).returncode == 2
    assert call("audit", "verify", "").returncode == 2


def flood(broker: lapwing.Broker, times: int) -> None:
    """Makes so many lines, each of a few hundred bytes."""
    with join(broker, "bob", "b") as bob:
        for _ in range(times):
            bob.send(wire.publish("closed", b"", qos=0, version=5))
        bob.publish("open/x", qos=1)


def test_a_trail_that_cannot_be_written_is_an_alarm(start: Start, tmp_path: Path) -> None:
    """Is it told and counted, does the broker go on, and is nothing lost when the trail can be written again?"""
    folder = tmp_path / "trail"
    folder.mkdir()
    with start(file=str(folder / "audit.jsonl"), file_bytes="64KiB", refusals_per_minute=100_000) as broker:
        shutil.rmtree(folder)
        flood(broker, 500)
        wire.until(lambda: broker.metrics()["lapwing_audit_failures_total"] > 0)
        flood(broker, 10)
        assert any("the audit trail cannot be written" in line for line in broker.notices())
        folder.mkdir()
        wire.until(lambda: any("is written again" in line for line in broker.notices()))
        assert broker.metrics()["lapwing_audit_lost_total"] == 0
    # The files that were removed are gone with what they had; all behind them is there.
    numbers = [line["seq"] for line in events(folder)]
    assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))
    assert events(folder)[-1]["event"] == "stopped"


def test_a_trail_that_must_be_written_stops_the_broker(start: Start, tmp_path: Path) -> None:
    """With ``on_failure = "stop"``: nothing more is done that is not written, and the error says why."""
    folder = tmp_path / "trail"
    folder.mkdir()
    broker = start(
        file=str(folder / "audit.jsonl"), file_bytes="64KiB", refusals_per_minute=100_000, on_failure="stop"
    ).start()
    shutil.rmtree(folder)
    # It may be cut off in the midst of it.
    with contextlib.suppress(AssertionError, OSError):
        flood(broker, 1_000)
    wire.until(lambda: not broker.ready)
    with pytest.raises(BrokerError, match="the audit trail cannot be written"):
        broker.check()
    with pytest.raises(BrokerError, match="the audit trail cannot be written"):
        broker.stop()


def test_a_full_queue_is_counted_and_written(start: Start, tmp_path: Path) -> None:
    """With room for one event: is what is lost counted, and told in the trail?"""
    with start(queue=1, refusals_per_minute=100_000) as broker:
        wire.until(lambda: flood(broker, 200) or broker.metrics()["lapwing_audit_lost_total"] > 0)
    lost = events(tmp_path, "lost")
    assert lost
    assert all(line["count"] > 0 for line in lost)


def test_a_configuration_that_cannot_be_read(start: Start, tmp_path: Path, token: str) -> None:
    """Is it written down that somebody has tried, and where it is wrong, without what stands there?"""

    def read() -> Config:
        raise ConfigError(f"{token} is no number", where="lapwing.toml:7", remedy="correct it")

    with start() as broker, pytest.raises(ConfigError):
        broker.reload(read)
    (failed,) = events(tmp_path, "reload_failed")
    assert (failed["error"], failed["where"]) == ("ConfigError", "lapwing.toml:7")
    assert token[8:] not in (tmp_path / "audit.jsonl").read_text()


def test_a_killed_broker_leaves_a_whole_trail(tmp_path: Path, token: str) -> None:
    """Orders of the command line, and refusals on standard error; then a kill: does the next start go on behind it?"""
    file, config = tmp_path / "audit.jsonl", tmp_path / "lapwing.toml"
    config.write_text(
        f'[auth]\nusers = "{tmp_path}/users.toml"\n[audit]\nfile = "{file}"\n'
        '[[rules]]\nidentity = "alice"\nmay = ["admin"]\n'
    )
    (tmp_path / "token").write_text(token)
    (tmp_path / "token").chmod(0o600)
    for ended in (signal.SIGKILL, signal.SIGTERM):
        with RunningBroker(tmp_path / "data", "--config", str(config)) as running:
            running.wait_until_ready()
            with Peer(running.url, 5) as alice, Peer(running.url, 5) as guesser:
                alice.join("a", username="alice", password=PASSWORD)
                guesser.send(wire.connect("g\n1", version=5, username="alice", password=WRONG))
                assert guesser.expect(wire.CONNACK).reason == 0x86
                asked = ("--url", running.http, "--token-file", str(tmp_path / "token"))
                dropped = call("sessions", "drop", "a", "--yes", *asked)
                assert dropped.returncode == 0, dropped.stderr
            wire.until(lambda: '127.0.0.1 gave a wrong password for "alice"' in "\n".join(running.errors))
            wire.until(lambda: '"DELETE"' in file.read_text().splitlines()[-1])
            running.end(ended)
            assert not any(PASSWORD in line or WRONG in line or token in line for line in running.errors)
    assert call("audit", "verify", str(file)).returncode == 0
    names = [line["event"] for line in events(tmp_path)]
    assert (names.count("started"), names.count("stopped"), names[-1]) == (2, 1, "stopped")
    orders = [(line["username"], line["method"], line["path"], line["status"]) for line in events(tmp_path, "change")]
    assert orders == [("alice", "DELETE", "/v1/sessions/a", 204)] * 2
