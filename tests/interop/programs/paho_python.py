"""paho-mqtt, the Python client of the Eclipse Paho project."""

from __future__ import annotations

import os
import sys
from typing import Any

import paho.mqtt.client as paho
from clients.message import Message
from paho.mqtt.enums import CallbackAPIVersion, MQTTProtocolVersion
from paho.mqtt.packettypes import PacketTypes

from programs.arguments import Arguments, received, say


def main() -> None:
    """Connects, then does what the input says."""
    given = Arguments.given()
    client = make(given)
    client.on_connect = on_connect
    client.on_subscribe = lambda *_: say("subscribed")
    client.on_publish = lambda *_: say("published")
    client.on_message = on_message
    client.connect(given.host, given.port)
    client.loop_start()
    for line in sys.stdin:
        verb, _, rest = line.rstrip("\n").partition(" ")
        if verb == "subscribe":
            client.subscribe(rest, 2)
        else:
            message = Message.of(rest)
            properties = given.properties(message)
            client.publish(message.topic, message.payload, message.qos, message.retain, properties)
    client.disconnect()
    client.loop_stop()


def make(given: Arguments) -> paho.Client:
    """A client that is not connected yet."""
    client = paho.Client(
        CallbackAPIVersion.VERSION2,
        given.client_id,
        protocol=MQTTProtocolVersion(given.version),
        transport="websockets" if given.is_websocket else "tcp",
    )
    if given.is_websocket:
        client.ws_set_options(given.path)
    if given.ca:
        client.tls_set(given.ca)
    if given.user:
        client.username_pw_set(given.user, given.password)
    if will := given.will:
        properties = given.properties(will, PacketTypes.WILLMESSAGE)
        client.will_set(will.topic, will.payload, will.qos, will.retain, properties)
    return client


def on_connect(_client: Any, _data: Any, _flags: Any, reason: Any, _properties: Any) -> None:
    """Says so; ends the program where the broker refuses, because paho would try again for ever."""
    if reason.is_failure:
        say(f"refused: {reason}")
        os._exit(1)
    say("connected")


def on_message(_client: Any, _data: Any, message: paho.MQTTMessage) -> None:
    """Prints what has come."""
    arrived = received(message.topic, bytes(message.payload), message.qos, message.retain, message.properties)
    say("message", arrived.line())


if __name__ == "__main__":
    main()
