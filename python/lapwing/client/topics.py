"""Topics and filters as somebody writes them: what can be published to, what can be subscribed to."""

from __future__ import annotations

from lapwing._core import filter_fault, topic_fault
from lapwing.errors import ConfigError


def check_topic(topic: str) -> str:
    """Gives the topic back.

    Raises:
        ConfigError: nothing can be published to it.
    """
    if fault := topic_fault(topic):
        raise ConfigError(f"{topic!r} is not a topic name", remedy=fault)
    return topic


def check_filter(text: str) -> str:
    """Gives the filter back, ordinary or shared.

    Raises:
        ConfigError: nobody can subscribe to it.
    """
    if fault := filter_fault(text):
        raise ConfigError(f"{text!r} is not a topic filter", remedy=fault)
    return text
