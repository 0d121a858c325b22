"""One line of the broker's log."""

from __future__ import annotations

from dataclasses import dataclass

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
    """

    subject: str
    level: str
    text: str

    @classmethod
    def of_node(cls, subject: str, is_alarm: bool, text: str) -> LogLine:
        """A line as ``Node.take_log`` has it."""
        level = "warning" if is_alarm else "info" if subject == _OF_CLIENTS else "notice"
        return cls(subject, level, text)

    def is_at_least(self, level: str) -> bool:
        """Whether it is printed where this level is wanted."""
        return LEVELS.index(self.level) >= LEVELS.index(level)
