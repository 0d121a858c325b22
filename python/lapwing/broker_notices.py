"""What a broker has to tell its operator beside what its node tells: each line once, when it is new."""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from lapwing.broker_guard import looked_at
from lapwing.broker_parts import has_code
from lapwing.certificate_times import certificate_notices

if TYPE_CHECKING:
    from lapwing.config import Config


class BrokerNotices:
    """The lines that wait for whoever asks, and those that hold and have been said.

    Args:
        file: Where the configuration was read from, if from a file.
        has_hooks: Hooks judge clients, beside what the configuration says.
    """

    def __init__(self, file: Path | None, *, has_hooks: bool) -> None:
        self._file, self._has_hooks = file, has_hooks
        self._told: list[str] = []
        self._waiting: list[str] = []

    def look(self, config: Config) -> None:
        """What there is to say of a configuration is said when it is new.

        Raises:
            ConfigError: others may write a file that the broker believes.
        """
        told = looked_at(config, self._file, has_hooks=self._has_hooks)
        self.say(line for line in told if line not in self._told)
        self._told = told

    def look_at_loaded(self, config: Config) -> None:
        """Looks again once hooks and strategies are loaded: they may have imported what nobody could know before.

        Raises:
            ConfigError: others may write a file of theirs.
        """
        if has_code(config):
            self.look(config)

    def look_at_certificates(self, config: Config) -> None:
        """Says of certificates what time alone has changed since the last look."""
        new = [line for line in certificate_notices(config, time.time()) if line not in self._told]
        self.say(new)
        self._told += new

    def say(self, lines: Iterable[str]) -> None:
        """Lines to be told, whether they have been told before or not."""
        self._waiting += lines

    def take(self) -> list[str]:
        """What waits, and does no more."""
        taken, self._waiting = self._waiting, []
        return taken
