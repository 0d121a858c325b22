"""What carries to MQTT was killed, or gave its connection up: does the broker publish all that comes then?"""

from __future__ import annotations

import pytest
from unreleased import leave_unreleased

from lapwing import Broker, Client
from lapwing.bridge.back_mapping import Publication
from lapwing.bridge.mqtt_outlet import MqttOutlet
from lapwing.bridge.stopping import Stopping, Waiting
from lapwing.config.bridge import ToMqtt
from lapwing.config.bridge_sides import BridgeMqtt

TIMEOUT_S = 30.0
CLIENT_ID = "bridge-1-commands-0"
COUNT = 10


def outlet_to(broker: Broker) -> MqttOutlet:
    """With a fixed client id, and QoS 2."""
    outlet = MqttOutlet(
        BridgeMqtt(url=broker.url, client_id="bridge", instance="1"),
        ToMqtt(name="commands", topic="commands", to="t", qos=2),
        "commands-0",
        buffer_messages=COUNT,
        stopping=Stopping(),
        waiting=Waiting("rule commands", print),
        alive=lambda: None,
    )
    outlet.connect()
    return outlet


@pytest.mark.parametrize("in_one_process", [False, True])
def test_nothing_new_is_taken_for_a_repeat(lapwing_broker: Broker, in_one_process: bool) -> None:
    """Both make a publisher that counts packet ids from 1, while the broker has some that were not released."""
    new = [b"new %d" % number for number in range(COUNT)]
    with Client(lapwing_broker.url) as reader:
        reader.subscribe("t", qos=1)
        first = outlet_to(lapwing_broker) if in_one_process else None
        leave_unreleased(lapwing_broker.url, CLIENT_ID, "t", COUNT)
        if first:
            first._renew()
        outlet = first or outlet_to(lapwing_broker)
        assert outlet.send([Publication("t", payload, [], None, None, None) for payload in new]) == []
        outlet.close()
        got = [reader.receive(TIMEOUT_S) for _ in range(2 * COUNT)]
    assert [message.payload for message in got if message] == [b"old"] * COUNT + new
