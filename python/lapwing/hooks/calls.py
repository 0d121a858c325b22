"""What a hook is called with: frozen structs, made by the dispatcher from the rows that Rust hands over."""

from __future__ import annotations

from typing import Any, Self

import msgspec


class _Call(msgspec.Struct, frozen=True):
    """The base: a changed copy instead of a changed object."""

    def replace(self, **changes: Any) -> Self:
        """A copy with other values in the fields named.

        Raises:
            TypeError: no such field.
        """
        return msgspec.structs.replace(self, **changes)


class ClientInfo(_Call, frozen=True):
    """A client with its present connection."""

    client_id: str
    """Its client id, its own or assigned by the broker."""
    identity: str | None
    """Who it is, as authenticated; None: anonymous."""
    address: str
    """Where it connects from, behind a proxy too: ``HOST:PORT``, or ``local`` over a Unix socket. Empty: not known; the
    message is the will of a session from before the broker started."""
    version: int
    """The protocol level: 3 (MQTT 3.1), 4 (3.1.1) or 5; 0: not known, likewise."""


class Message(_Call, frozen=True):
    """A message on its way into the broker."""

    client: ClientInfo
    """Who publishes it."""
    topic: str
    """Its topic; a topic alias is resolved."""
    payload: bytes
    """Its bytes."""
    qos: int
    """0, 1 or 2. A hook cannot change it: the exchange of acknowledgements has begun."""
    retain: bool
    """Whether the broker is to retain it."""
    user_properties: tuple[tuple[str, str], ...] = ()
    """User Properties (5.0), in order; a name may come more than once."""
    content_type: str | None = None
    """Content Type (5.0)."""
    response_topic: str | None = None
    """Response Topic (5.0)."""
    correlation_data: bytes | None = None
    """Correlation Data (5.0)."""
    message_expiry_s: int | None = None
    """Message Expiry Interval (5.0), in seconds; None: never."""
    payload_is_utf8: bool | None = None
    """Payload Format Indicator (5.0): the publisher says that the payload is text."""
    is_will: bool = False
    """The broker publishes it in place of its client, which has gone."""


class Connect(_Call, frozen=True):
    """A CONNECT that waits for its verdict. The password is not shown."""

    client: ClientInfo
    """Who knocks; ``identity`` is what the broker has verified itself (users file, certificate)."""
    username: str | None
    """User Name, as sent: not verified unless it is the identity."""
    password: bytes | None
    """Password, as sent."""
    clean_start: bool
    """Clean Start (5.0), Clean Session (3.1.1)."""
    keep_alive_s: int
    """Keep Alive in seconds; 0: off."""
    will: Message | None
    """What is to be published when the client goes without saying goodbye; ``on_publish`` judges it then."""
    user_properties: tuple[tuple[str, str], ...] = ()
    """User Properties (5.0), in order."""

    def __repr__(self) -> str:
        return f"Connect(client={self.client!r}, username={self.username!r}, ...)"


class AuthStep(_Call, frozen=True):
    """A step of an enhanced authentication (MQTT 5.0, section 4.12). The data are not shown."""

    client: ClientInfo
    """Who takes it; ``identity`` is the one it has already, if any."""
    method: str
    """Authentication Method: the same in every step."""
    data: bytes | None
    """Authentication Data."""
    first: bool
    """The first step of an exchange."""
    again: bool
    """The client is connected and authenticates itself anew."""

    def __repr__(self) -> str:
        return f"AuthStep(client={self.client!r}, method={self.method!r}, first={self.first}, ...)"


class Subscription(_Call, frozen=True):
    """One filter of a SUBSCRIBE."""

    client: ClientInfo
    """Who subscribes."""
    filter: str
    """The filter as the client wrote it, with ``$share/GROUP/``. No hook changes it: the client unsubscribes by it."""
    qos: int
    """The QoS asked for; a hook may grant a lower one."""
    no_local: bool
    """No Local (5.0): the client does not want its own messages."""
    retain_as_published: bool
    """Retain As Published (5.0)."""
    retain_handling: int
    """Retain Handling (5.0): 0 retained messages are sent, 1 only for a new subscription, 2 not."""
    subscription_id: int | None
    """Subscription Identifier (5.0)."""


class Connected(_Call, frozen=True):
    """A client has connected."""

    client: ClientInfo
    """Who."""
    session_present: bool
    """It goes on with the session it had."""


class Disconnected(_Call, frozen=True):
    """A client's connection has ended."""

    client: ClientInfo
    """Who."""
    reason_code: int | None
    """Why, as a reason code of MQTT 5.0 (0: it said goodbye); None: the connection broke without a word."""


class Subscribed(_Call, frozen=True):
    """A subscription was granted."""

    client: ClientInfo
    """Who."""
    filter: str
    """To what."""
    qos: int
    """The QoS granted."""


class Unsubscribed(_Call, frozen=True):
    """A client has given a subscription up."""

    client: ClientInfo
    """Who."""
    filter: str
    """What."""
