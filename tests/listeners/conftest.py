"""What every test of listeners has: certificates made for this run, and the raw clients of the broker's own tests."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path[:0] = [str(Path(__file__).parent.parent / "broker"), str(Path(__file__).parent)]

from authority import Authority, make_authority  # noqa: E402


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return make_authority(tmp_path / "pki")
