"""Is what the system refuses one line with a remedy, also where it names no path?"""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from lapwing.cli.system_refusal import about_a_path


def test_a_working_folder_that_is_gone(tmp_path: Path) -> None:
    """`lapwing broker` was a traceback there."""
    before = Path.cwd()
    gone = tmp_path / "gone"
    gone.mkdir()
    os.chdir(gone)
    try:
        gone.rmdir()
        with pytest.raises(FileNotFoundError) as caught:
            Path.cwd()
        told = about_a_path(caught.value)
    finally:
        os.chdir(before)
    assert told is not None
    assert told.lines() == ["the folder that this was started in is gone: cd to one that there is"]
    assert about_a_path(caught.value) is None, "it is about something else where there is a folder"


def test_what_names_no_path_is_no_ones() -> None:
    assert about_a_path(OSError(errno.EBADF, "Bad file descriptor")) is None
