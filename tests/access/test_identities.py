"""Who comes in, with which will, and into whose session."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import wire
from peer import Peer
from scenario import PASSWORD, refused
from wire import CONNACK, DISCONNECT

import lapwing

Join = Callable[..., Peer]
BAD_CREDENTIALS = {4: 4, 5: 0x86}
NOT_AUTHORIZED = {4: 5, 5: 0x87}
CLIENT_ID_REFUSED = {4: 2, 5: 0x85}


def knock(broker: lapwing.Broker, version: int, client_id: str = "k", **options: object) -> int:
    """Connects, and returns the code of the CONNACK; a refused connection must end."""
    with Peer(broker.url, version) as peer:
        peer.send(wire.connect(client_id, version=version, **options))
        reason = peer.expect(CONNACK).reason
        if reason:
            assert peer.until_end() == []
        return reason


def test_the_right_password_opens(broker: lapwing.Broker, version: int, token: str) -> None:
    assert knock(broker, version, username="alice", password=PASSWORD) == 0
    assert knock(broker, version, username="alice", password=token) == 0, "a token stands for the password"


@pytest.mark.parametrize(
    ("username", "password"),
    [("alice", "wrong"), ("alice", ""), ("nobody", PASSWORD), ("", PASSWORD), ("alice", None), ("ALICE", PASSWORD)],
)
def test_a_wrong_one_does_not(broker: lapwing.Broker, version: int, username: str, password: str | None) -> None:
    assert knock(broker, version, username=username, password=password) == BAD_CREDENTIALS[version]


def test_another_users_token_does_not(broker: lapwing.Broker, version: int, token: str) -> None:
    assert knock(broker, version, username="bob", password=token) == BAD_CREDENTIALS[version]


def test_a_token_alone_names_its_user(broker: lapwing.Broker, token: str) -> None:
    """5.0 allows a password without a user name."""
    with Peer(broker.url, 5) as peer:
        peer.send(wire.connect("t", password=token))
        assert peer.expect(CONNACK).reason == 0
        assert peer.subscribe_to("u/alice/#") == b"\0"


def test_on_loopback_the_anonymous_come_in_and_get_what_rules_give_them(join: Join, version: int) -> None:
    failure = 0x87 if version == 5 else 0x80
    assert join(None, "n").subscribe_to("hello", "open/x", "shared/x/y") == bytes([0, failure, failure])


def test_without_users_a_name_is_only_words(version: int) -> None:
    with lapwing.Broker(shards=1) as open_broker:
        assert knock(open_broker, version, username="root", password="whatever") == 0


def test_a_will_needs_the_right_to_publish_it(broker: lapwing.Broker, join: Join, version: int) -> None:
    credentials = {"username": "alice", "password": PASSWORD}
    before = refused(broker, "will")
    for topic in ("closed", "open/secret/x", "$SYS/x"):
        will = (topic, b"gone", 0, False)
        assert knock(broker, version, will=will, **credentials) == NOT_AUTHORIZED[version]
    assert refused(broker, "will") == before + 3
    subscriber = join("alice", "s")
    subscriber.subscribe_to("u/alice/#")
    join("alice", "w", will=("u/alice/will", b"gone", 0, False)).close()
    assert subscriber.message().payload == b"gone"


def test_a_session_belongs_to_who_began_it(broker: lapwing.Broker, join: Join, version: int) -> None:
    """Neither taken over, nor resumed, nor ended by another identity; its own gets it back."""
    alice = join("alice", f"same-{version}", keep=True)
    alice.subscribe_to(("u/alice/x", 1))
    before = refused(broker, "client_id")
    for clean in (True, False):
        for options in ({"username": "bob", "password": PASSWORD}, {}):
            assert knock(broker, version, f"same-{version}", clean=clean, **options) == CLIENT_ID_REFUSED[version]
    assert alice.round_trip() == [], "it was not disturbed"
    alice.close()
    bob = {"username": "bob", "password": PASSWORD}
    assert knock(broker, version, f"same-{version}", **bob) == CLIENT_ID_REFUSED[version], "nor while it is away"
    assert refused(broker, "client_id") == before + 5
    join("alice", "other").publish("u/alice/x", b"queued", qos=1)
    again = join("alice", f"same-{version}", keep=True)
    assert again.session_present
    assert again.message().payload == b"queued"


def test_an_empty_session_keeps_its_client_id_from_the_anonymous_alone(
    broker: lapwing.Broker, join: Join, version: int
) -> None:
    """Connected once and gone, it would keep an id from its user for as long as sessions live, and protect nothing."""
    squatted = f"bobs-{version}"
    join("alice", squatted, keep=True).close()
    assert knock(broker, version, squatted) == CLIENT_ID_REFUSED[version]
    bob = join("bob", squatted, keep=True)
    assert not bob.session_present
    alice = {"username": "alice", "password": PASSWORD}
    assert knock(broker, version, squatted, **alice) == CLIENT_ID_REFUSED[version], "he is connected"
    bob.round_trip()
    bob.close()
    assert join("alice", squatted, keep=True).session_present is False


def test_the_same_identity_takes_over(join: Join, version: int) -> None:
    first = join("alice", "twice", keep=True)
    second = join("alice", "twice", keep=True)
    assert second.session_present
    found = first.until_end()
    assert [packet.reason for packet in found if packet.kind == DISCONNECT] == ([0x8E] if version == 5 else [])


def test_a_name_takes_a_client_id_from_the_anonymous_but_not_what_is_queued(join: Join, version: int) -> None:
    """What nobody in particular began is no protection against a user; nor is it the user's to read."""
    nobody = join(None, f"contested-{version}", keep=True)
    nobody.subscribe_to(("hello", 1))
    alice = join("alice", f"contested-{version}", keep=True)
    assert not alice.session_present
    nobody.until_end()
    alice.round_trip()
    join(None, "n").publish("hello", b"x", qos=1)
    assert alice.round_trip() == [], "the subscription went with the session"


def test_no_secret_is_shown(users: Path, version: int, token: str) -> None:
    """Neither metrics nor notices nor reprs have a password, a token or a hash."""
    with lapwing.Broker(shards=1, users=users) as broker:
        knock(broker, version, username="alice", password=PASSWORD)
        knock(broker, version, username="alice", password="not " + PASSWORD)
        knock(broker, version, username="alice", password=token)
        shown = broker.metrics_text() + repr(broker.notices()) + repr(broker.config) + repr(vars(broker))
    for secret in (PASSWORD, token, "argon2id"):
        assert secret not in shown
