"""The text of the unit."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from lapwing.errors import ConfigError
from lapwing.service.needs import Needs

PROGRAM = Path("/usr/local/bin/lapwing")
CONFIG = Path("/etc/lapwing/lapwing.toml")
DATA = Path("/var/lib/lapwing")
USER = "lapwing"
_HOMES = (Path("/home"), Path("/root"), Path("/run/user"))
_STOP_S = 30
_AFTER_DRAIN_S = 20
"""Behind a drain: for what is written then."""
_NOTHING = Needs()
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./@+:,")


@dataclass(frozen=True)
class Unit:
    """What a unit is made of.

    Args:
        program: The command, a whole path.
        config: The configuration, a whole path.
        data: The data folder, a whole path.
        user: The account, and its group.
        names_data: The folder is given as a flag, in the place of what the configuration says.
        needs: What the configuration asks for besides.
    """

    program: Path = PROGRAM
    config: Path = CONFIG
    data: Path = DATA
    user: str = USER
    names_data: bool = True
    needs: Needs = _NOTHING

    def text(self) -> str:
        """The unit as a file.

        Raises:
            ConfigError: a path is not whole, or cannot stand in a unit.
        """
        for key, path in (("--program", self.program), ("--config", self.config), ("--data", self.data)):
            _check(key, path)
        for folder in self._others():
            _check("a folder of the configuration", folder)
        lines = files("lapwing.service").joinpath("lapwing.service").read_text(encoding="utf-8").splitlines()
        return "".join(f"{line}\n" for each in lines for line in self._filled_in(each))

    def _filled_in(self, line: str) -> list[str]:
        key, _, _ = line.partition("=")
        if key == "ExecStart":
            data = f" --data {self.data}" if self.names_data else ""
            return [f"ExecStart={self.program} broker --config {self.config}{data}"]
        if key == "TimeoutStopSec":
            return [f"TimeoutStopSec={max(_STOP_S, self.needs.drain_s + _AFTER_DRAIN_S)}"]
        if key in ("User", "Group"):
            return [f"{key}={self.user}"]
        if key == "StateDirectory":
            return [*([line] if self.data == DATA else []), *self._folders()]
        if key == "StateDirectoryMode" and self.data != DATA:
            return []
        if key == "ProtectHome" and self.is_at_home():
            return ["ProtectHome=read-only"]
        return [line]

    def is_at_home(self) -> bool:
        """Whether something that it needs lies where services see nothing by default."""
        paths = (self.program, self.config, self.data, *self._others())
        return any(path.is_relative_to(home) for path in paths for home in _HOMES)

    def made_by_hand(self) -> list[Path]:
        """Folders that nobody makes for the account: systemd does below /var/lib, /var/log and /run only."""
        others = [folder for folder in self._others() if _made_by_systemd(folder) is None]
        return [*([self.data] if self.data != DATA else []), *others]

    def _others(self) -> list[Path]:
        """Folders that it writes, beside the data folder and what lies in that."""
        trail = [] if self.needs.trail is None else [self.needs.trail]
        folders = dict.fromkeys((*self.needs.sockets, *trail))
        return [folder for folder in folders if not folder.is_relative_to(self.data)]

    def _folders(self) -> list[str]:
        made = [line for folder in self._others() if (line := _made_by_systemd(folder)) is not None]
        return [*(f"ReadWritePaths={folder}" for folder in self.made_by_hand()), *made]

    def account(self) -> str:
        """The account as a line for systemd-sysusers."""
        return f'u {self.user} - "Lapwing MQTT broker" {self.data} -\n'


def _made_by_systemd(folder: Path) -> str | None:
    """How systemd makes a folder for the account, and takes it away where it is to go; None: it does not."""
    for key, above in (("RuntimeDirectory", Path("/run")), ("LogsDirectory", Path("/var/log"))):
        if folder.is_relative_to(above) and folder != above and not folder.is_relative_to("/run/user"):
            return f"{key}={folder.relative_to(above)}"
    return None


def _check(key: str, path: Path) -> None:
    if not path.is_absolute():
        raise ConfigError(f"{key} is no whole path", where=str(path), remedy="write it from / on")
    if odd := sorted(set(str(path)) - _PLAIN):
        what = f"{key} has {''.join(odd)!a}, which a unit would read otherwise"
        raise ConfigError(what, where=ascii(str(path)), remedy="choose a path of letters, digits, _ - . and /")
