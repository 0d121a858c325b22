"""The short form: half a minute of faults, and nothing acknowledged is lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from .run import Run


@pytest.mark.long
@pytest.mark.timeout(400)
def test_nothing_is_lost(tmp_path: Path) -> None:
    outcome = Run(7, tmp_path, per_s=1000).go(25.0)
    assert outcome.acknowledged > 1000
    assert sum(outcome.faults.values()) >= 3
    assert outcome.lost == 0
