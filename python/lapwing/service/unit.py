"""The text of the unit."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from lapwing.errors import ConfigError

PROGRAM = Path("/usr/local/bin/lapwing")
CONFIG = Path("/etc/lapwing/lapwing.toml")
DATA = Path("/var/lib/lapwing")
USER = "lapwing"
_HOMES = (Path("/home"), Path("/root"), Path("/run/user"))
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./@+:,")


@dataclass(frozen=True)
class Unit:
    """What a unit is made of.

    Args:
        program: The command, a whole path.
        config: The configuration, a whole path.
        data: The data folder, a whole path.
        user: The account, and its group.
    """

    program: Path = PROGRAM
    config: Path = CONFIG
    data: Path = DATA
    user: str = USER

    def text(self) -> str:
        """The unit as a file.

        Raises:
            ConfigError: a path is not whole, or cannot stand in a unit.
        """
        for key, path in (("--program", self.program), ("--config", self.config), ("--data", self.data)):
            _check(key, path)
        lines = files("lapwing.service").joinpath("lapwing.service").read_text(encoding="utf-8").splitlines()
        return "".join(f"{line}\n" for each in lines for line in self._filled_in(each))

    def _filled_in(self, line: str) -> list[str]:
        key, _, _ = line.partition("=")
        if key == "ExecStart":
            return [f"ExecStart={self.program} broker --config {self.config} --data {self.data}"]
        if key in ("User", "Group"):
            return [f"{key}={self.user}"]
        if key == "StateDirectory" and self.data != DATA:
            # systemd makes folders below /var/lib only; another one is made by whoever chose it.
            return [f"ReadWritePaths={self.data}"]
        if key == "StateDirectoryMode" and self.data != DATA:
            return []
        if key == "ProtectHome" and self.is_at_home():
            return ["ProtectHome=read-only"]
        return [line]

    def is_at_home(self) -> bool:
        """Whether the program or the configuration lies where services see nothing by default."""
        return any(path.is_relative_to(home) for path in (self.program, self.config) for home in _HOMES)

    def account(self) -> str:
        """The account as a line for systemd-sysusers."""
        return f'u {self.user} - "Lapwing MQTT broker" {self.data} -\n'


def _check(key: str, path: Path) -> None:
    if not path.is_absolute():
        raise ConfigError(f"{key} is no whole path", where=str(path), remedy="write it from / on")
    if odd := sorted(set(str(path)) - _PLAIN):
        what = f"{key} has {''.join(odd)!a}, which a unit would read otherwise"
        raise ConfigError(what, where=ascii(str(path)), remedy="choose a path of letters, digits, _ - . and /")
