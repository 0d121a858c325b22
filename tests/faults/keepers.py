"""Who is to have what was acknowledged: a stream, or a session whose client is away."""

from __future__ import annotations

from abc import ABC, abstractmethod

import pyarrow as pa
from commands import RunningBroker
from web import get

from lapwing import Client

FILTER, TOPIC = "t/#", "t/1"
_END = b"the end"
_PATIENCE_S = 30.0


class Keeper(ABC):
    """One that keeps what is published to `TOPIC`.

    Attributes:
        flags: The broker is started with them.
    """

    flags: tuple[str, ...] = ()

    @abstractmethod
    def begin(self, broker: RunningBroker) -> None:
        """Keeps from now on."""

    @abstractmethod
    def read(self, broker: RunningBroker) -> list[bytes]:
        """Payloads of everything that was kept, in order."""


class StreamKeeper(Keeper):
    """A stream of one partition."""

    flags = ("--set", f"streams.all.filter={FILTER}")

    def begin(self, broker: RunningBroker) -> None:
        """It is there from the start."""

    def read(self, broker: RunningBroker) -> list[bytes]:
        """See `Keeper`."""
        (partition,) = get(f"{broker.http}/v1/streams/all").json()["partitions"]
        payloads: list[bytes] = []
        while len(payloads) < partition["next_offset"]:
            response = get(f"{broker.http}/v1/streams/all/0", params={"from": len(payloads)})
            payloads += pa.ipc.open_stream(response.content).read_all()["payload"].to_pylist()
        return payloads


class SessionKeeper(Keeper):
    """A session that was left."""

    flags = ("--set", "limits.queue_messages_max=1000000", "--set", "limits.queue_bytes_max=1GiB")

    def begin(self, broker: RunningBroker) -> None:
        """See `Keeper`."""
        with self._client(broker) as client:
            client.subscribe(FILTER, qos=1)

    def read(self, broker: RunningBroker) -> list[bytes]:
        """Takes what waits, up to a message that comes behind all others."""
        with Client(broker.url) as publisher:
            publisher.publish(TOPIC, _END, qos=1)
            publisher.flush(_PATIENCE_S)
        payloads = []
        with self._client(broker) as client:
            assert client.session_present, "the session is gone"
            for message in client.messages(_PATIENCE_S):
                if message.payload == _END:
                    return payloads
                payloads.append(message.payload)
        raise AssertionError(f"only {len(payloads)} messages came, and not the end")

    def _client(self, broker: RunningBroker) -> Client:
        return Client(broker.url, client_id="sleeper", clean_start=False, session_expiry_s=3_600)


KEEPERS = {"stream": StreamKeeper(), "session": SessionKeeper()}
