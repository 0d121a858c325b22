"""What a reload changes for those who are there: rights, subscriptions, wills; and for those who no longer are."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import wire
from certificates import Certificates
from peer import Peer
from scenario import PASSWORD, RULES
from wire import CONNACK, DISCONNECT, PUBACK

import lapwing
from lapwing.auth import update_users
from lapwing.config import AuthSection, Config
from lapwing.errors import ConfigError

Join = Callable[..., Peer]


@pytest.fixture
def own_users(users: Path, token: str, tmp_path: Path) -> Path:
    return Path(shutil.copy(users, tmp_path / "users.toml"))


@pytest.fixture
def broker(own_users: Path) -> Iterator[lapwing.Broker]:
    """One of the test's own, whose users it may change."""
    with lapwing.Broker(shards=2, users=own_users, rules=RULES) as broker:
        yield broker


def with_rules(broker: lapwing.Broker, users: Path, rules: list[dict[str, object]]) -> None:
    broker.reload(Config(auth=AuthSection(users=users), rules=rules))


def revoked(broker: lapwing.Broker) -> float:
    return broker.metrics()["lapwing_rights_revoked_total"]


def test_open_sessions_get_the_new_rights(broker: lapwing.Broker, join: Join, own_users: Path, version: int) -> None:
    """Is a right that was there gone, one that was not there given, and the connection the same?"""
    subscriber, publisher = join("alice", "s"), join("alice", "p")
    assert subscriber.subscribe_to(("open/a", 1), ("u/alice/#", 1)) == b"\1\1"
    publisher.publish("open/a", b"before", qos=1)
    assert subscriber.message().payload == b"before"
    subscriber.send(wire.ack(PUBACK, 1))
    rule = {"identity": "alice", "may": ["publish", "subscribe"], "topics": ["u/%u/#", "new"]}
    with_rules(broker, own_users, [rule])
    wire.until(lambda: revoked(broker) == 1)
    publisher.send(wire.publish("open/a", b"", qos=1, version=version))
    assert publisher.expect(PUBACK).reason == (0x87 if version == 5 else 0)
    publisher.publish("new", qos=1)
    publisher.publish("u/alice/x", b"after", qos=1)
    assert subscriber.message().payload == b"after"


def test_a_subscription_is_taken_back(broker: lapwing.Broker, join: Join, own_users: Path) -> None:
    """Does the subscriber get nothing more of what it may not have, also across shards and in shared groups?"""
    names = [wire.name_on(shard, 2, "s") for shard in (0, 1)]
    subscribers = [join("alice", name) for name in names]
    for peer in subscribers:
        assert peer.subscribe_to("open/a", "$share/g/open/b") == b"\0\0"
    rule = {"identity": "bob", "may": ["publish", "subscribe"], "topics": ["#"]}
    with_rules(broker, own_users, [rule, {"identity": "alice", "may": ["subscribe"], "topics": ["other"]}])
    wire.until(lambda: revoked(broker) == 4)
    bob = join("bob", "b")
    for topic in ("open/a", "open/b"):
        bob.publish(topic, b"x", qos=1)
    for peer in subscribers:
        assert peer.round_trip() == []


def test_a_session_without_connection_too(broker: lapwing.Broker, join: Join, own_users: Path) -> None:
    """Is what was queued while it had the right still there, and nothing after?"""
    away = join("alice", "away", keep=True)
    away.subscribe_to(("open/a", 1))
    away.close()
    sender = join("alice", "p")
    wire.until(lambda: broker.metrics()["lapwing_sessions_offline"] == 1)
    sender.publish("open/a", b"before", qos=1)
    rules: list[dict[str, object]] = [
        {"identity": "alice", "may": ["publish"], "topics": ["#"]},
        {"identity": "alice", "may": ["subscribe"], "topics": ["other"]},
    ]
    with_rules(broker, own_users, rules)
    wire.until(lambda: revoked(broker) == 1)
    sender.publish("open/a", b"after", qos=1)
    back = join("alice", "away", keep=True)
    assert back.session_present
    assert back.message().payload == b"before"
    assert back.round_trip() == []


def test_a_will_is_taken_back(broker: lapwing.Broker, join: Join, own_users: Path) -> None:
    alice = join("alice", "w", will=("open/will", b"gone", 0, False))
    rules: list[dict[str, object]] = [{"identity": "bob", "may": ["subscribe"], "topics": ["open/#"]}]
    with_rules(broker, own_users, rules)
    wire.until(lambda: revoked(broker) == 1)
    bob = join("bob", "b")
    bob.subscribe_to("open/#")
    alice.close()
    wire.until(lambda: broker.metrics()["lapwing_connections"] == 1)
    assert bob.round_trip() == []


def test_who_was_removed_is_sent_away(broker: lapwing.Broker, join: Join, own_users: Path, version: int) -> None:
    """Also a session without a connection, and nobody else."""
    here, other = join("alice", "here", keep=True), join("bob", "b")
    away = join("alice", "away", keep=True)
    away.close()
    wire.until(lambda: broker.metrics()["lapwing_sessions_offline"] == 1)
    with update_users(own_users) as known:
        del known["alice"]
    broker.reload()
    found = here.until_end()
    assert [(packet.kind, packet.reason) for packet in found] == ([(DISCONNECT, 0x87)] if version == 5 else [])
    wire.until(lambda: broker.metrics()["lapwing_sessions"] == 1)
    assert other.round_trip() == []
    with Peer(broker.url, version) as peer:
        peer.send(wire.connect("here", version=version, username="alice", password=PASSWORD))
        assert peer.expect(CONNACK).reason == {4: 4, 5: 0x86}[version]


def test_a_wrong_reload_changes_nothing(broker: lapwing.Broker, join: Join, own_users: Path) -> None:
    alice = join("alice", "a")
    alice.publish("open/a", qos=1)
    own_users.write_text("[users.alice]\npassword = 'nonsense'\n")
    with pytest.raises(ConfigError, match=r"users\.alice\.password"):
        broker.reload()
    alice.publish("open/a", qos=1)
    assert alice.round_trip() == []
    join("bob", "b")


@pytest.mark.parametrize("fault", ["certificate", "group", "topic", "user"])
def test_a_reload_is_whole_or_not_at_all(own_users: Path, token: str, tmp_path: Path, fault: str) -> None:
    """Rules and users that are in order are not taken over beside something that is wrong; nor is anything else."""
    made = Certificates.make(tmp_path)
    tls = {"url": "tls://127.0.0.1:0", "certificate": made.chain, "key": made.key}
    rule = {"identity": "alice", "may": ["publish", "subscribe"], "topics": ["new"]}
    others: dict[str, Any] = {"groups": {"more": {"filters": ["more"]}}}
    settings: dict[str, Any] = {"listeners": [tls], "users": own_users, "rules": RULES}
    with lapwing.Broker(["tcp://127.0.0.1:0"], **settings) as broker, Peer(broker.url, 5) as alice:
        alice.join("a", username="alice", password=PASSWORD)
        if fault == "certificate":
            made.key.write_text("no key")
        elif fault == "group":
            others["groups"]["bad"] = {"use": "nowhere:Chooser"}
        elif fault == "topic":
            others["topics"] = {"t": {"durability": "disk"}}
        else:
            own_users.write_text("[users.alice]\npassword = '$argon2id$'\n")
        with pytest.raises(ConfigError):
            broker.reload(Config(auth=AuthSection(users=own_users), rules=[rule], **others))
        assert alice.subscribe_to("open/a", "new") == b"\0\x87", "what was in force stays"
        assert (broker.groups(), revoked(broker)) == ([], 0)


def test_a_new_user_comes_in(broker: lapwing.Broker, join: Join, own_users: Path) -> None:
    with update_users(own_users) as known:
        known["carol"] = type(known["alice"])("carol", known["alice"].password)
    broker.reload()
    join("carol", "c").publish("shared/carol/x", qos=1)


def test_of_two_reloads_one_waits_for_the_other(broker: lapwing.Broker, own_users: Path) -> None:
    """What the first has read is in force before the second reads."""
    now = Config(auth=AuthSection(users=own_users), rules=RULES)
    second_reads = threading.Event()

    def second() -> Config:
        second_reads.set()
        return now

    other = threading.Thread(target=broker.reload, args=(second,))

    def first() -> Config:
        other.start()
        assert not second_reads.wait(0.2)
        return now

    broker.reload(first)
    other.join(30)
    assert second_reads.is_set()
    assert not other.is_alive()
