"""Is a data folder that others may write refused, wherever a broker keeps something, and one that they see named?"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

import pytest

from lapwing.config import Config
from lapwing.errors import ConfigError
from lapwing.file_rights import check_files
from lapwing.file_rights.data_folder import seen_by_others, written_by_others
from lapwing.file_rights.verdict import Trusted

OWN = Trusted(frozenset({os.geteuid()}), frozenset())
"""This process, and no group."""


def keeping(folder: Path, files: Literal["strict", "warn"] = "strict") -> Config:
    return Config(broker={"data": folder, "durability": "disk", "files": files})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("mode", "told", "is_seen"),
    [
        (0o700, "", False),
        (0o750, "", False),
        (0o755, "", True),
        (0o701, "", True),
        (0o770, "may write it (mode 0770)", False),
        (0o777, "every user of this machine may write it (mode 0777)", True),
        (0o1777, "every user of this machine may write it (mode 0777)", True),
    ],
)
def test_by_its_mode(tmp_path: Path, mode: int, told: str, is_seen: bool) -> None:
    """With the sticky bit, too: others put something there, and it is believed."""
    folder, link = tmp_path / "a b", tmp_path / "link"
    folder.mkdir()
    folder.chmod(mode)
    link.symlink_to("a b")
    for path in (folder, link):
        problem = written_by_others(keeping(path), OWN)
        assert (problem is not None) == bool(told)
        assert told in str(problem)
        assert bool(seen_by_others(keeping(path))) is is_seen


def test_by_its_owner(tmp_path: Path) -> None:
    problem = written_by_others(keeping(tmp_path), Trusted(frozenset({54_321}), frozenset()))
    assert "holds what this broker keeps, and it belongs to uid" in str(problem)
    assert "chown -h root" in str(problem)


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
