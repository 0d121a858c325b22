"""Do commands of tests find nothing but what a test gives them?"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from commands import call, lapwing

NEW = ("user", "add", "alice", "--no-password")
"""Written into `users.toml` of the working directory; one who is there already is an error."""


@pytest.mark.parametrize("run", [call, lapwing])
def test_each_begins_in_an_empty_folder_outside_of_the_tree(run: Callable[..., Any]) -> None:
    for _ in range(2):
        assert run(*NEW).returncode == 0
    assert not Path("users.toml").exists()


@pytest.mark.parametrize("run", [call, lapwing])
def test_or_where_it_is_told_or_the_test_has_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Callable[..., Any]
) -> None:
    assert run(*NEW, cwd=tmp_path).returncode == 0
    monkeypatch.chdir(tmp_path)
    assert "alice" in run("user", "list").stdout
