"""What becomes of the folder that a demo's nodes lie in?"""

from __future__ import annotations

from pathlib import Path

import pytest

from lapwing.errors import ConfigError
from lapwing.lab.cluster_demo.folder import demo_folder


def leave(out: Path | None, error: BaseException | None = None, *, is_kept: bool = False) -> tuple[Path, list[str]]:
    """Its path, and what was told."""
    told: list[str] = []
    path = Path()
    try:
        with demo_folder(out, told.append) as folder:
            path = folder.path
            (path / "n1.log").write_text("words")
            folder.is_kept |= is_kept
            if error is not None:
                raise error
    except BaseException as raised:
        if raised is not error:
            raise
    return path, told


def test_one_that_nobody_named_goes() -> None:
    for error in (None, KeyboardInterrupt()):
        path, told = leave(None, error)
        assert (path.exists(), told) == (False, [])


def test_it_stays_where_something_went_wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    for error, is_kept in ((RuntimeError(), False), (None, True)):
        path, told = leave(None, error, is_kept=is_kept)
        assert path.exists()
        assert str(path) in told[0]


def test_one_of_ones_own(tmp_path: Path) -> None:
    """Is made, stays, and has nothing else in it."""
    path, told = leave(tmp_path / "new" / "marsh")
    assert path.exists()
    assert str(path) in told[0]
    for taken in (path, path / "n1.log"):
        with pytest.raises(ConfigError, match="no empty folder"):
            leave(taken)
