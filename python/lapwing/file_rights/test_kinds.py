"""Is what is no file refused before anybody opens it and waits for ever?"""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from lapwing.config import Config
from lapwing.errors import ConfigError
from lapwing.file_rights import check_files, check_kinds


def naming(users: Path, key: Path) -> Config:
    listener = {"url": "tls://127.0.0.1:0", "certificate": str(users.parent / "none.pem"), "key": str(key)}
    return Config(broker={"files": "warn"}, auth={"users": str(users)}, listeners=[listener])  # type: ignore[arg-type, list-item]


def test_all_that_are_no_files_are_named(tmp_path: Path) -> None:
    pipe, link, bound = tmp_path / "pipe", tmp_path / "link", tmp_path / "s"
    os.mkfifo(pipe, 0o600)
    link.symlink_to("s")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(bound))
        for look in (check_kinds, lambda config: check_files(config, os.geteuid())):
            with pytest.raises(ConfigError) as raised:
                look(naming(pipe, link))
            told = [str(problem) for problem in raised.value.problems]
            assert [line.partition(" (")[0] for line in told] == [
                "auth.users is a pipe",
                "listeners.0.key is a socket",
            ]


def test_a_device_is_no_file() -> None:
    with pytest.raises(ConfigError, match=r"auth\.users is a device"):
        check_kinds(naming(Path("/dev/zero"), Path("/dev/none")))


def test_files_and_what_others_say_of_is_let_through(tmp_path: Path) -> None:
    """A folder, and what is not there: who reads it says so."""
    file = tmp_path / "users.toml"
    file.touch()
    check_kinds(naming(file, tmp_path))
    check_kinds(naming(tmp_path / "none", tmp_path / "neither"))
