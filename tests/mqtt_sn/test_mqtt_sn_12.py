"""Does `mqtt-sn-12`, somebody else's client in Python, get on with us: QoS -1 to 2, wills, sleep?

It acknowledges nothing that comes to it, QoS 1 neither, and so it listens with QoS 0.
"""

from __future__ import annotations

import pytest
from other_device import PREDEFINED, QOS_MINUS_1, Device

from lapwing import Client

TIMEOUT_S = 30.0


def received(client: Client, count: int) -> list[tuple[str, bytes, int]]:
    """The next messages."""
    messages = [client.receive(TIMEOUT_S) for _ in range(count)]
    return [(m.topic, m.payload, m.qos) for m in messages if m]


def test_publish(port: int, other: Client) -> None:
    """Do its messages arrive, once: each QoS by registered, short and predefined topics, and -1 without CONNECT?"""
    other.subscribe(["up/#", "ab", PREDEFINED], qos=2)
    with Device(port, "twelve-up") as device:
        for qos in (0, 1, 2):
            device.client.send_publish("up/t", f"{qos}".encode(), qos)
            device.client.send_publish("ab", f"{qos}".encode(), qos)
            device.client.send_publish_predefined(1, f"{qos}".encode(), qos)
        device.client.send_disconnect()
    expected = [(topic, f"{qos}".encode(), qos) for qos in (0, 1, 2) for topic in ("up/t", "ab", PREDEFINED)]
    assert received(other, 9) == expected
    nobody = Device(port, "nobody")
    nobody.client.send_publish_predefined(1, b"-1", QOS_MINUS_1)
    nobody.client.send_publish_short(int.from_bytes(b"ab", "big"), b"-1", QOS_MINUS_1)
    nobody.client.close()
    assert received(other, 2) == [(PREDEFINED, b"-1", 0), ("ab", b"-1", 0)]


def test_subscribe(port: int, other: Client) -> None:
    """Does it hear what it subscribed to, by name, short name, predefined id and wildcard, and no more afterwards?"""
    with Device(port, "twelve-down") as device:
        client = device.client
        for topic in ("down/t", "cd", "wild/+"):
            client.send_subscribe(topic, 0, device)
        client.send_subscribe_predefined(1, 0, device)
        for topic in ("down/t", "wild/1", "wild/1"):
            other.publish(topic, topic.encode(), qos=1)
        assert device.receive(3) == [("down/t", b"down/t"), ("wild/1", b"wild/1"), ("wild/1", b"wild/1")]
        client.send_unsubscribe("down/t")
        other.publish("down/t", b"unheard", qos=1)
        # For topics of ids that it did not register it has no names.
        other.publish("cd", b"short", qos=1)
        other.publish(PREDEFINED, b"known", qos=1)
        assert device.receive(2) == [(None, b"short"), (None, b"known")]
        client.send_disconnect()


def test_wills(port: int, other: Client) -> None:
    """Is its will told when it is lost, as it was changed last, and not when it says goodbye?"""
    other.subscribe("will/#", qos=1)
    with Device(port, "twelve-lost", will=("will/first", "first"), keep_alive_s=1) as lost:
        lost.client.send_will_topic_update("will/second")
        lost.client.send_will_message_update("second")
    with Device(port, "twelve-polite", will=("will/polite", "never"), keep_alive_s=1) as polite:
        polite.client.send_disconnect()
    assert received(other, 1) == [("will/second", b"second", 1)]
    other.publish("will/end", b"", qos=1)
    assert received(other, 1) == [("will/end", b"", 1)]


def test_sleep(port: int, other: Client) -> None:
    """Does what comes while it sleeps wait until it awakes, or comes back to stay?"""
    with Device(port, "twelve-asleep") as device:
        device.client.send_subscribe("sleep/#", 0, device)
        device.client.send_disconnect(600)
        for number in range(3):
            other.publish("sleep/t", f"{number}".encode(), qos=number % 2)
        other.flush()
        device.awake()
        assert device.receive(3) == [("sleep/t", b"0"), ("sleep/t", b"1"), ("sleep/t", b"2")]
        device.has_slept_again()
        other.publish("sleep/t", b"later", qos=1)
        other.flush()
        device.client.set_clean_session(False)
        device.client.send_connect()
        assert device.receive(1) == [("sleep/t", b"later")]
        device.client.send_disconnect()


def test_search_and_refusal(port: int) -> None:
    """Does it find the gateway, and hear the code of what is refused?"""
    device = Device(port, "twelve-search")
    device.client.send_search_gateway(0)
    device.client.send_connect()
    with pytest.raises(Exception, match="invalid topic ID"):
        device.client.send_publish_predefined(9, b"", 1)
    device.client.send_disconnect()
    device.client.close()
