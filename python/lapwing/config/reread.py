"""The configuration of a broker that runs: read at the start, and again whenever it is told to."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from lapwing._core import kind_at
from lapwing.config.cut_off import check_not_cut_off
from lapwing.config.load import Loaded
from lapwing.config.model import Config
from lapwing.config.restart import in_words, waiting_for_restart
from lapwing.errors import ConfigError


class Reread:
    """What is in force, and what was read last.

    Args:
        file: Where it comes from, if from a file.
        load: Reads it, with whatever goes before the file.

    Raises:
        ConfigError: as ``load``.
    """

    def __init__(self, file: Path | None, load: Callable[[], Loaded]) -> None:
        self._file = file
        self._load = load
        self._begun = self._in_force = self._read_last = load()

    @property
    def in_force(self) -> Config:
        """What the broker was started with, or has taken over last."""
        return self._in_force.config

    def again(self) -> Config:
        """As it is now.

        Raises:
            ConfigError: as ``load``; or a pipe lies in its place, which may have nobody at its other end; or the file
                was cut off.
        """
        if self._file is not None and (kind := kind_at(self._file)):
            raise ConfigError(
                f"the configuration is {kind}, which was read at the start",
                where=str(self._file),
                remedy="give --config a file: it is read again at a reload",
            )
        self._read_last = self._load()
        check_not_cut_off(self._in_force, self._read_last)
        return self._read_last.config

    def waits(self) -> str:
        """What was read last and no reload takes over, where it is other than at the start: names, in words."""
        return in_words(waiting_for_restart(self._begun.config, self._read_last.config))

    def taken(self) -> None:
        """What was read last is in force."""
        self._in_force = self._read_last
