"""A device on `mqtt-sn-12`, which is somebody else's client: connected, and what it got and heard of the gateway."""

from __future__ import annotations

import time
from types import TracebackType
from typing import Any, Self

from mqttsn12.client.MqttSnClient import MqttSnClient, MqttSnListener, MqttSnMessage
from mqttsn12.MqttSnConstants import MqttSnConstants
from mqttsn12.packets import PingReqPacket

TIMEOUT_S = 30
PREDEFINED = "known/beforehand"
"""The topic whose id is 1 for everybody."""

Got = tuple[str | None, bytes]
"""Topic, None where the client knows no name for it, and payload."""


class _Client(MqttSnClient):
    """Remembers the types of the messages that came."""

    def __init__(self) -> None:
        super().__init__()
        self.heard: list[str] = []

    def receive_packet(self, blocking: bool) -> Any:
        packet = super().receive_packet(blocking)
        if packet:
            self.heard.append(self.decode_type(packet[3 if packet[0] == 1 else 1]))
        return packet


class Device(MqttSnListener):
    """One device, connected in its block; it goes without a word at the end, if it has not said goodbye."""

    def __init__(
        self,
        port: int,
        client_id: str,
        *,
        will: tuple[str, str] | None = None,
        is_kept: bool = False,
        keep_alive_s: int = 60,
    ) -> None:
        self.got: list[Got] = []
        self.client_id = client_id
        self.client = _Client()
        self.client.set_client_id(client_id)
        self.client.set_timeout(TIMEOUT_S)
        self.client.set_keep_alive(keep_alive_s)
        self.client.set_clean_session(not is_kept)
        if will:
            self.client.set_will(*will, qos=1, retain=False)
        self.client.open("127.0.0.1", port)

    def __enter__(self) -> Self:
        self.client.send_connect()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.client.close()

    def message_arrived(self, msg: MqttSnMessage) -> None:
        """What the client calls."""
        self.got.append((msg.get_topic_name(), msg.get_payload()))

    def receive(self, count: int) -> list[Got]:
        """So many messages, those from before first."""
        deadline = time.monotonic() + TIMEOUT_S
        while len(self.got) < count:
            assert time.monotonic() < deadline, f"{count} messages awaited: {self.got}"
            self.client.polling()
            time.sleep(0.001)
        taken, self.got = self.got[:count], self.got[count:]
        return taken

    def awake(self) -> None:
        """PINGREQ with its id: what waits comes, then PINGRESP; see `has_slept_again`."""
        ping = PingReqPacket()
        self.client.heard.clear()
        # What its encoder takes: the setter stores bytes, which that does not.
        ping.client_id = self.client_id
        self.client.send_packet(ping.encode())

    def has_slept_again(self) -> None:
        """Waits for the PINGRESP of `awake`."""
        deadline = time.monotonic() + TIMEOUT_S
        while "PINGRESP" not in self.client.heard:
            assert time.monotonic() < deadline, f"no PINGRESP: {self.client.heard}"
            self.client.polling()
            time.sleep(0.001)


QOS_MINUS_1 = MqttSnConstants.QOS_N1
