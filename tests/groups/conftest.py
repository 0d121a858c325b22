"""Groups of a real broker, over HTTP."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from lapwing import Broker

# The raw clients of the broker's own tests.
sys.path[:0] = [str(Path(__file__).parent.parent / "broker"), str(Path(__file__).parent)]

from over_http import Groups  # noqa: E402


@pytest.fixture
def groups(lapwing_broker: Broker) -> Groups:
    return Groups(lapwing_broker)
