"""Are the folders judged in which Python looks before it finds a hook's modules?"""

from __future__ import annotations

import os
import sys
import sysconfig
from pathlib import Path
from typing import Literal

import pytest

from lapwing.config import Config
from lapwing.errors import ConfigError
from lapwing.file_rights import check_files
from lapwing.file_rights.modules import module_files
from lapwing.file_rights.search_path import searched_folders

STDLIB = sysconfig.get_path("stdlib")
USE = "ours_judge:Judge"


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """One in front of Python's own, that of the hooks, and one behind it; the working directory is elsewhere."""
    root = tmp_path.resolve()
    for name in ("front", "hooks", "behind", "here"):
        (root / name).mkdir(mode=0o700)
    (root / "hooks" / "ours_judge.py").write_text("import json\nraise AssertionError('it was run')\n")
    monkeypatch.chdir(root / "here")
    monkeypatch.setattr(sys, "path", [str(root / "front"), STDLIB, str(root / "hooks"), str(root / "behind")])
    return root


def config(files: Literal["strict", "warn"] = "strict") -> Config:
    return Config.model_validate({"broker": {"files": files, "durability": "memory"}, "hooks": {"use": USE}})


def refused(folders: Path) -> list[str]:
    """Which of the folders a start is refused for; nothing else is."""
    try:
        check_files(config(), os.geteuid())
    except ConfigError as error:
        lines = [str(problem) for problem in error.problems]
        assert all("decides which modules this broker imports" in line for line in lines), lines
        return [line.split(" ")[0].removeprefix(f"{folders}/") for line in lines]
    return []


def test_down_to_those_of_hooks(folders: Path) -> None:
    """And no further; without what comes with Python."""
    assert searched_folders(module_files(USE)) == [folders / "front", folders / "hooks"]
    assert searched_folders([]) == []


def test_down_to_pythons_own_where_hooks_are_in_front(folders: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What hooks, and the broker, import of it can be shadowed too."""
    order = ["hooks", "front", STDLIB, "behind"]
    monkeypatch.setattr(sys, "path", [str(folders / name) for name in order])
    assert searched_folders(module_files(USE)) == [folders / "hooks", folders / "front"]


def test_all_of_them_where_another_finder_has_it(folders: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """As for a package that is installed to be edited; the working directory comes last."""
    elsewhere = tmp_path_factory.mktemp("elsewhere").resolve() / "edited.py"
    expected = [folders / name for name in ("front", "hooks", "behind", "here")]
    assert searched_folders([elsewhere]) == expected
    assert searched_folders([elsewhere.with_suffix(".pyc")]) == expected[:1], "what is compiled may lie anywhere"


def test_the_working_directory_is_one(folders: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the empty name in its place; by no name behind all others, where hooks are found at last."""
    monkeypatch.setattr(sys, "path", ["", STDLIB, str(folders / "hooks")])
    assert searched_folders(module_files(USE)) == [folders / "here", folders / "hooks"]
    monkeypatch.chdir(folders / "hooks")
    monkeypatch.setattr(sys, "path", [str(folders / "front"), STDLIB, str(folders / "behind")])
    assert searched_folders(module_files(USE)) == [folders / name for name in ("front", "behind", "hooks")]


@pytest.mark.parametrize(
    ("name", "mode", "expected"),
    [
        ("front", 0o755, []),
        ("front", 0o777, ["front"]),
        ("front", 0o1777, ["front"]),
        ("hooks", 0o1777, ["hooks"]),
        ("behind", 0o777, []),
        ("here", 0o777, []),
    ],
)
def test_by_their_modes(folders: Path, name: str, mode: int, expected: list[str]) -> None:
    """With the sticky bit, too: others put a module there that nobody had."""
    (folders / name).chmod(mode)
    assert refused(folders) == expected


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give folders away")
def test_by_their_owners(folders: Path) -> None:
    os.chown(folders / "front", 54_321, -1)
    with pytest.raises(ConfigError, match=r"front decides .* and it belongs to uid 54321.*: chown -h root "):
        check_files(config(), os.geteuid())


def test_for_another_account_what_is_ours_is_a_strangers(folders: Path) -> None:
    """Without root's help: for a broker that is to run as somebody else, whoever runs this is the stranger."""
    told = check_files(config("warn"), 54_321)
    of_front = [line for line in told if line.startswith(f"{folders / 'front'} decides")]
    assert len(of_front) == (os.geteuid() != 0)


def test_what_is_missing_can_be_made_where_others_may_write(folders: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [str(folders / "front" / "none"), *sys.path[1:]])
    assert refused(folders) == []
    (folders / "front").chmod(0o1777)
    assert refused(folders) == ["front"]


def test_the_message_names_folder_mode_and_remedy(folders: Path) -> None:
    (front := folders / "front").chmod(0o702)
    with pytest.raises(ConfigError) as raised:
        check_files(config(), os.geteuid())
    expected = (
        f"{front} decides which modules this broker imports, and every user of this machine may write it (mode 0702) "
        f"(hooks.use, through '{front}' in sys.path): chmod o-w {front}, take it out of sys.path (PYTHONPATH, or start "
        'elsewhere), or allow it with broker.files = "warn"'
    )
    assert [str(problem) for problem in raised.value.problems] == [expected]
    assert check_files(config("warn"), os.geteuid()) == [expected]


def test_without_hooks_nobody_looks(folders: Path) -> None:
    (folders / "front").chmod(0o777)
    assert check_files(Config.model_validate({"broker": {"durability": "memory"}}), os.geteuid()) == []
