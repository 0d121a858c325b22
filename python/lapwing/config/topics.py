"""Topic names in a configuration."""

from __future__ import annotations

from lapwing._core import topic_fault

_TOPIC_BYTES_MAX = 1_024


def parse_topic(text: str) -> str:
    """A topic name that a broker may publish to on its own, by the rules of MQTT 4.7.

    Raises:
        ValueError: the rule that is broken.
    """
    if fault := topic_fault(text):
        raise ValueError(f"is not a topic name: {fault}")
    if len(text.encode()) > _TOPIC_BYTES_MAX:
        raise ValueError(f"must be a topic of 1 to {_TOPIC_BYTES_MAX} bytes")
    if text.startswith("$"):
        raise ValueError("must not begin with $: those topics are the broker's own")
    return text
