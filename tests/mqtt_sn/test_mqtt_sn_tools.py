"""Do mqtt-sn-pub and mqtt-sn-sub, somebody else's clients in C, get on with us: QoS -1 to 1, sleep, a forwarder?

They have neither QoS 2 nor wills.
"""

from __future__ import annotations

from other_device import PREDEFINED
from other_programs import pub, sub

from lapwing import Client

TIMEOUT_S = 30.0


def test_publish(port: int, other: Client) -> None:
    """Do their messages arrive: each QoS, by name, short name and id, without CONNECT and through a forwarder?"""
    other.subscribe(["c/#", "ef", PREDEFINED], qos=1)
    for arguments, topic, qos in [
        (("-t", "c/t", "-q", "0"), "c/t", 0),
        (("-t", "c/t", "-q", "1"), "c/t", 1),
        (("-t", "ef", "-q", "1"), "ef", 1),
        (("-T", "1", "-q", "1"), PREDEFINED, 1),
        (("-T", "1", "-q", "-1"), PREDEFINED, 0),
        (("-t", "ef", "-q", "-1"), "ef", 0),
        (("-t", "c/forwarded", "-q", "1", "--fe", "--wlnid", "node-7"), "c/forwarded", 1),
    ]:
        pub(port, *arguments, "-m", "23")
        message = other.receive(TIMEOUT_S)
        assert message
        assert (message.topic, message.payload, message.qos) == (topic, b"23", qos)


def test_subscribe(port: int, other: Client) -> None:
    """Do they hear what they subscribed to, from a client of MQTT and from each other?"""
    other.publish("d/ready", b"ready", qos=0, retain=True)
    other.flush()
    with sub(port, "-t", "d/#", "-q", "1") as device:
        assert device.line() == "d/ready: ready"
        other.publish("d/1", b"from TCP", qos=1)
        assert device.line() == "d/1: from TCP"
        pub(port, "-t", "d/2", "-m", "from C", "-q", "1")
        assert device.line() == "d/2: from C"
    other.publish("d/ready", b"", qos=1, retain=True)


def test_sleep(port: int, other: Client) -> None:
    """Does what comes while it sleeps wait until it is back, at another address?"""
    other.publish("e/ready", b"ready", qos=0, retain=True)
    other.flush()
    kept = ("-c", "-i", "c-asleep", "-t", "e/#", "-q", "1", "-e", "600", "-1")
    with sub(port, *kept) as device:
        assert device.rest() == ["e/ready: ready"]
    other.publish("e/t", b"waited", qos=1)
    other.publish("e/ready", b"", qos=1, retain=True)
    other.flush()
    with sub(port, *kept) as device:
        # Once more, where it came before its SUBACK: it takes none then.
        assert "e/t: waited" in device.rest()
