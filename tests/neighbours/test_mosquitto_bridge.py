"""Mosquitto as a bridge to Lapwing, as it is by default: does each message come over, once, over restarts too?"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from neighbours_peer import READY, Peer
from restarting import RestartingBroker

STATE = "$SYS/broker/connection/br-1/state"
BOTH = "topic # both 1\n"

Eventually = Callable[[Callable[[], bool], str], None]


@pytest.mark.parametrize("version", ["mqttv311", "mqttv31", "mqttv50"])
def test_a_bridge_of_everything_brings_nothing_twice(version: str, bridged: Callable, eventually: Eventually) -> None:
    """Is a message on each side once, retained where it was, and is the state told, as between two Mosquittos?"""
    broker, bridge = bridged(f"{BOTH}bridge_protocol_version {version}\n")
    check_both_ways(broker, bridge, eventually)


def check_both_ways(broker: RestartingBroker, bridge: Any, eventually: Eventually) -> None:
    with (
        Peer(broker.port, "here", ("#", 1), (STATE, 1)) as here,
        Peer(bridge.port, "there", ("#", 1)) as there,
    ):
        eventually(lambda: here.is_subscribed and there.is_subscribed, "no SUBACK")
        eventually(lambda: here.got[STATE, b"1"] > 0, "no state of the bridge: " + bridge.said()[-2000:])
        there.publish("from/there", b"1", 1)
        here.publish("from/here", b"2", 1)
        here.publish("from/here/kept", b"3", 1, retain=True)
        there.publish("from/there", b"last", 1)
        here.publish("from/here", b"last", 1)
        eventually(
            lambda: all(peer.got["from/here", b"last"] and peer.got["from/there", b"last"] for peer in (here, there)),
            "a message did not come over",
        )
        for peer in (here, there):
            mine = {message: times for message, times in peer.got.items() if message[0].startswith("from/")}
            assert set(mine.values()) == {1}, mine
            assert len(mine) == 5
        with Peer(bridge.port, "late", ("from/#", 1)) as late:
            eventually(lambda: late.retained == {"from/here/kept": b"3"}, "RETAIN did not come over")
        bridge.kill()
        eventually(lambda: here.got[STATE, b"0"] > 0, "the will of the bridge did not come")


def test_where_bridges_are_switched_off_mosquitto_comes_as_a_client(bridged: Callable, eventually: Eventually) -> None:
    """Is the answer to its level the one after which Mosquitto leaves the bit out?"""
    lines = "topic up/# out 1\nnotifications false\n"
    broker, bridge = bridged(lines, "--set", "limits.mqtt_bridges=false")
    with Peer(broker.port, "here", ("up/#", 1)) as here, Peer(bridge.port, "there") as there:
        eventually(lambda: here.is_subscribed, "no SUBACK")
        there.publish("up/x", b"1", 1)
        eventually(lambda: here.got["up/x", b"1"] == 1, "it did not come over: " + bridge.said()[-2000:])


def carry(count: int, bridged: Callable, eventually: Eventually, *, killed: bool = False, newest: bool = False) -> None:
    """`count` messages each way, half at QoS 1 and half at QoS 2, while both brokers are restarted in turn.

    Where Lapwing is killed Mosquitto 2.0.11 doubles at QoS 2 what it has under way from it: that is sent again as it
    must be, with DUP and the packet id it had, and Mosquitto hands it on once more. Nothing is lost in either case.
    What 2.0.11 itself publishes once more after its PUBREL is its own doing, and counted in its log.
    """
    lines = "".join(
        f"topic {way}/{qos}/# {to} {qos}\n" for way, to in (("up", "out"), ("down", "in")) for qos in (1, 2)
    )
    lines += f"topic {READY} in 1\ncleansession false\n"
    broker, bridge = bridged(lines, "--set", "limits.queue_messages_max=100000", newest=newest)

    def restart_here() -> None:
        if killed:
            broker.kill()
        else:
            broker.stop()
        broker.start()

    def restart_there() -> None:
        bridge.stop()
        bridge.start()

    with (
        Peer(broker.port, "here", ("up/#", 2)) as here,
        Peer(bridge.port, "there", ("down/#", 2), (READY, 1)) as there,
    ):
        eventually(lambda: here.is_subscribed and there.is_subscribed, "no SUBACK")
        eventually(partial(_is_ready, here, there), "the bridge has not subscribed: " + bridge.said()[-2000:])
        steps = (restart_here, restart_there, restart_here, restart_there, lambda: None)
        for step, restart in enumerate(steps):
            for number in range(step * count // len(steps), (step + 1) * count // len(steps)):
                qos = 1 + number % 2
                there.publish(f"up/{qos}/x", b"%d" % number, qos)
                here.publish(f"down/{qos}/x", b"%d" % number, qos)
            restart()
        for peer, way, receiver in ((here, "up", "local.br-1"), (there, "down", "there")):
            wanted = {(f"{way}/{1 + number % 2}/x", b"%d" % number) for number in range(count)}
            # As long as more comes there is no hurry: only silence is a failure.
            while (done := len(peer.carried)) < count:
                eventually(partial(_has_more, peer, done), f"{way}: {count - done} are missing")
            assert set(peer.carried) == wanted
            doubled = {
                message: times - 1
                for message, times in peer.carried.items()
                if message[0].startswith(f"{way}/2") and times > 1
            }
            its_own = bridge.published_after_release(receiver)
            assert killed or sum(doubled.values()) <= its_own, f"doubled at QoS 2, {its_own} by Mosquitto: {doubled}"
        eventually(lambda: here.all_acknowledged and there.all_acknowledged, "not all is acknowledged")


def _has_more(peer: Peer, done: int) -> bool:
    return len(peer.carried) > done


def _is_ready(here: Peer, there: Peer) -> bool:
    """Whether the bridge has what it subscribes to: what is published before that comes to nobody, rightly."""
    here.publish(READY, b"", 1)
    return there.got[READY, b""] > 0


@pytest.mark.slow
def test_a_kill_loses_nothing(bridged: Callable, eventually: Eventually) -> None:
    carry(300, bridged, eventually, killed=True)


@pytest.mark.slow
@pytest.mark.parametrize("newest", [False, pytest.param(True, marks=pytest.mark.nightly)], ids=["installed", "newest"])
def test_ten_thousand_come_over_each_way_over_restarts_of_either(
    newest: bool, bridged: Callable, eventually: Eventually
) -> None:
    carry(10_000, bridged, eventually, newest=newest)


@pytest.mark.slow
@pytest.mark.parametrize("version", ["mqttv311", "mqttv31", "mqttv50"])
def test_the_newest_brings_nothing_twice(version: str, bridged: Callable, eventually: Eventually) -> None:
    """Is its bridge to us what that of the installed one is?"""
    broker, bridge = bridged(f"{BOTH}bridge_protocol_version {version}\n", newest=True)
    check_both_ways(broker, bridge, eventually)


@pytest.mark.slow
def test_a_kill_loses_nothing_to_the_newest(bridged: Callable, eventually: Eventually) -> None:
    carry(300, bridged, eventually, killed=True, newest=True)
