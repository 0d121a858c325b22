"""Topics and filters as somebody writes them: what can be published to, what can be subscribed to."""

from __future__ import annotations

from lapwing.errors import ConfigError

_EMPTY = "write at least one character"


def check_topic(topic: str) -> str:
    """Gives the topic back.

    Raises:
        ConfigError: it is empty or has a wildcard.
    """
    if not topic:
        raise ConfigError("TOPIC is empty", remedy=_EMPTY)
    if "+" in topic or "#" in topic:
        raise ConfigError(f"topic {topic!r} has a wildcard", remedy="publish to one topic; wildcards are for sub")
    return topic


def check_filter(text: str) -> str:
    """Gives the filter back.

    Raises:
        ConfigError: it is empty, or a wildcard is not a whole level, or # is not the last one.
    """
    if not text:
        raise ConfigError("FILTER is empty", remedy=_EMPTY)
    *levels, last = text.split("/")
    if any("#" in level for level in levels) or ("#" in last and last != "#"):
        raise ConfigError(f"filter {text!r} has a # that is not its last level", remedy="write a/#")
    if any("+" in level and level != "+" for level in (*levels, last)):
        raise ConfigError(f"filter {text!r} has a + beside other characters", remedy="write a/+/b")
    return text
