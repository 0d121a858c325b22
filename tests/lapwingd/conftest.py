"""The program, built once."""

from __future__ import annotations

from pathlib import Path

import pytest
from daemon import BUILD_S, build

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Gives the time for a build to whatever may be the first to need the program."""
    for item in items:
        if item.path.parent == HERE and "program" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.timeout(BUILD_S + 60))


@pytest.fixture(scope="session")
def program() -> Path:
    return build()
