"""A demo clears only what a demo wrote."""

from __future__ import annotations

from pathlib import Path

import pytest

from lapwing.errors import ConfigError
from lapwing.lab.demo_folder import MARK, claim, clear


def test_a_new_and_an_empty_folder_are_taken(tmp_path: Path) -> None:
    for out in (tmp_path / "a" / "b", tmp_path / "empty"):
        (tmp_path / "empty").mkdir(exist_ok=True)
        claim(out)
        assert [path.name for path in out.iterdir()] == [MARK]


def test_a_folder_that_no_demo_made_is_refused_and_untouched(tmp_path: Path) -> None:
    (tmp_path / "report.html").write_text("mine")
    with pytest.raises(ConfigError, match=r"not empty.*--out .*give another --out"):
        claim(tmp_path)
    assert (tmp_path / "report.html").read_text() == "mine"


def test_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ConfigError, match="this is a file"):
        claim(tmp_path / "file")


def test_a_former_demos_folder_is_cleared_but_not_of_others_files(tmp_path: Path) -> None:
    out = tmp_path / "out"
    claim(out)
    (out / "tables" / "readings").mkdir(parents=True)
    (out / "summary.json").touch()
    (out / "notes.txt").write_text("mine")
    claim(out)
    assert sorted(path.name for path in out.iterdir()) == [MARK, "notes.txt"]


def test_a_link_is_removed_and_not_followed(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "precious").touch()
    out = tmp_path / "out"
    claim(out)
    (out / "tables").symlink_to(elsewhere)
    clear(out)
    assert (elsewhere / "precious").exists()
    assert not out.exists()
