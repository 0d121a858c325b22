"""A received message."""

from __future__ import annotations

from typing import NamedTuple


class Message(NamedTuple):
    """A message as it came.

    Attributes:
        topic: Where it was published.
        payload: What was published.
        qos: The quality it came with, 0 to 2.
        retain: It was retained (or, with ``retain_as_published``, sent to be).
        dup: The broker may have sent it before.
        user_properties: Pairs in order; names repeat (MQTT 5.0).
        content_type: What the payload is (5.0).
        response_topic: Where to answer (5.0).
        correlation_data: What to answer with (5.0).
        message_expiry_s: Seconds it has left (5.0).
        subscription_ids: Those of the subscriptions that it matched (5.0).
    """

    topic: str
    payload: bytes
    qos: int = 0
    retain: bool = False
    dup: bool = False
    user_properties: list[tuple[str, str]] = []  # noqa: RUF012 (nobody changes a default of a tuple)
    content_type: str | None = None
    response_topic: str | None = None
    correlation_data: bytes | None = None
    message_expiry_s: int | None = None
    subscription_ids: list[int] = []  # noqa: RUF012
