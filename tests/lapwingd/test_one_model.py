"""Does lapwingd read configurations by the one model: is what was printed for it what the model says today?"""

from __future__ import annotations

from pathlib import Path

import pytest
from tools import lapwingd_verdicts
from tools.lapwingd_model import node_text, text

CRATE = Path(__file__).parents[2] / "crates" / "lapwingd"


def test_its_keys_are_the_models() -> None:
    """Every key, bound, default, and where it goes in the node's configuration."""
    file = CRATE / "src" / "configuration" / "model.json"
    assert file.read_text() == text(), f"run python tools/lapwingd_model.py > {file.relative_to(CRATE.parents[1])}"


def test_it_takes_what_we_take() -> None:
    """What the Rust side is held against (`it_takes_and_refuses_what_the_package_does`): values of each kind."""
    file = CRATE / "tests" / "same" / "values.json"
    command = f"python tools/lapwingd_verdicts.py > {file.relative_to(CRATE.parents[1])}"
    assert file.read_text() == lapwingd_verdicts.text(), f"run {command}"


@pytest.mark.parametrize("name", ["edge", "asked", "small"])
def test_its_node_is_started_as_ours(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the Rust side is held against (`the_node_is_the_same_as_of_the_package`): a node's whole configuration."""
    monkeypatch.chdir(CRATE)
    file = Path("tests/same", name).with_suffix(".toml")
    assert file.with_suffix(".json").read_text() == node_text(file), f"run tools/lapwingd_model.py {file} in {CRATE}"
