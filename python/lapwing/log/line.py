"""One line of the broker's log."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

LEVELS = ("info", "notice", "warning", "error", "off")
"""From what is said most to what is said in any case; "off" is above all."""

_OF_CLIENTS = "clients"


@dataclass(frozen=True)
class LogLine:
    """What is told.

    Args:
        subject: What it is about, in a word: a kind of notice.
        level: One of ``LEVELS``, but for "off".
        text: One line.
        facts: What is in it by name, for programs: ``client_id``, ``address``, ``reason_code``.
    """

    subject: str
    level: str
    text: str
    facts: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of_node(cls, subject: str, is_alarm: bool, text: str, facts: str | None = None) -> LogLine:
        """A line as ``Node.take_log`` has it."""
        level = "warning" if is_alarm else "info" if subject == _OF_CLIENTS else "notice"
        return cls(subject, level, text, {} if facts is None else json.loads(facts))

    def is_at_least(self, level: str) -> bool:
        """Whether it is printed where this level is wanted."""
        return LEVELS.index(self.level) >= LEVELS.index(level)
