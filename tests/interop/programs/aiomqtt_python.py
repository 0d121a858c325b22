"""aiomqtt, the client for asyncio."""

from __future__ import annotations

import asyncio
import sys

import aiomqtt
from clients.message import Message
from paho.mqtt.packettypes import PacketTypes

from programs.arguments import Arguments, received, say

_VERSIONS = {4: aiomqtt.ProtocolVersion.V311, 5: aiomqtt.ProtocolVersion.V5}


async def main() -> None:
    """Connects, then does what the input says."""
    given = Arguments.given()
    async with make(given) as client:
        say("connected")
        arrivals = asyncio.create_task(show(client))
        while line := await asyncio.to_thread(sys.stdin.readline):
            await do(client, given, line.rstrip("\n"))
        arrivals.cancel()


async def do(client: aiomqtt.Client, given: Arguments, line: str) -> None:
    """Carries out one line, to its end."""
    verb, _, rest = line.partition(" ")
    if verb == "subscribe":
        await client.subscribe(rest, 2)
        say("subscribed")
        return
    message = Message.of(rest)
    properties = given.properties(message)
    await client.publish(message.topic, message.payload, message.qos, message.retain, properties)
    say("published")


async def show(client: aiomqtt.Client) -> None:
    """Prints what comes."""
    async for message in client.messages:
        assert isinstance(message.payload, bytes)
        arrived = received(message.topic.value, message.payload, message.qos, message.retain, message.properties)
        say("message", arrived.line())


def make(given: Arguments) -> aiomqtt.Client:
    """A client that connects when its block is entered."""
    will = None
    if last := given.will:
        properties = given.properties(last, PacketTypes.WILLMESSAGE)
        will = aiomqtt.Will(last.topic, last.payload, last.qos, last.retain, properties)
    return aiomqtt.Client(
        given.host,
        given.port,
        identifier=given.client_id,
        username=given.user,
        password=given.password,
        protocol=_VERSIONS[given.version],
        will=will,
        transport="websockets" if given.is_websocket else "tcp",
        websocket_path=given.path or None,
        tls_params=aiomqtt.TLSParameters(ca_certs=given.ca) if given.ca else None,
    )


if __name__ == "__main__":
    try:
        asyncio.run(main())
    except aiomqtt.MqttError as error:
        say(f"refused: {error}")
        sys.exit(1)
