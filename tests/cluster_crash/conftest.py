"""What cuts a network takes rights that not everybody has."""

from __future__ import annotations

import pytest

from .network import why_not


@pytest.fixture(scope="session")
def needs_network() -> None:
    """Skips where there is no network of one's own."""
    if reason := why_not():
        pytest.skip(reason)
