"""Is a data folder that others may write refused, wherever a broker keeps something, and one that they see named?"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

import pytest

from lapwing.config import Config
from lapwing.errors import ConfigError
from lapwing.file_rights import check_files


def keeping(folder: Path, files: Literal["strict", "warn"] = "strict") -> Config:
    return Config(broker={"data": folder, "durability": "disk", "files": files})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("mode", "told"),
    [
        (0o700, []),
        (0o755, ["every user of this machine may look into it"]),
        (
            0o1777,
            ["every user of this machine may write it (mode 0777)", "every user of this machine may look into it"],
        ),
    ],
)
def test_by_its_mode(tmp_path: Path, mode: int, told: list[str]) -> None:
    """With the sticky bit, too: others put something there, and it is believed. Also behind a link."""
    folder, link = tmp_path / "a b", tmp_path / "link"
    folder.mkdir()
    folder.chmod(mode)
    link.symlink_to("a b")
    for path in (folder, link):
        lines = check_files(keeping(path, "warn"), os.geteuid())
        assert len(lines) == len(told)
        assert all(words in line for words, line in zip(told, lines, strict=True))


def test_the_start_is_refused_unless_a_setting_says_else(tmp_path: Path) -> None:
    (folder := tmp_path / "data").mkdir()
    folder.chmod(0o777)
    with pytest.raises(ConfigError, match=r"chmod o-w .*name a new folder in it"):
        check_files(keeping(folder), os.geteuid())
    told = check_files(keeping(folder, "warn"), os.geteuid())
    assert ["may write it" in line for line in told] == [True, False]
    assert "chmod o-rwx" in told[1]


def test_what_the_start_makes_is_its_own_and_without_it_nothing_is_kept(tmp_path: Path) -> None:
    (folder := tmp_path / "data").mkdir()
    folder.chmod(0o777)
    assert check_files(keeping(folder / "new"), os.geteuid()) == []
    assert check_files(Config(broker={"data": folder, "durability": "memory"}), os.geteuid()) == []  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="holds what this broker keeps"):
        check_files(
            Config(broker={"data": folder, "durability": "memory"}, streams={"all": {"filter": "#"}}),  # type: ignore[arg-type, dict-item]
            os.geteuid(),
        )
