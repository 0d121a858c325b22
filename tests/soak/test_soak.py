"""A minute of the soak: is nothing lost, and does nothing grow that a minute can show?"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from benches.soak import soak
from benches.soak_samples import Sample, grown, growth

FLAT = Sample(at_s=0.0, memory_bytes=100, disk_bytes=100, descriptors=100, p50_ms=1.0, p99_ms=2.0)


def test_growth_is_seen() -> None:
    flat = [FLAT] * 100
    assert grown(flat) == {}
    leaking = [replace(FLAT, memory_bytes=100 + at) for at in range(100)]
    assert growth(leaking, "memory_bytes") == pytest.approx(1.46, abs=0.02)
    assert list(grown(leaking)) == ["memory_bytes"]
    with pytest.raises(ValueError, match="too few"):
        growth(flat[:5], "memory_bytes")


@pytest.mark.nightly
@pytest.mark.timeout(240)
def test_a_minute_is_calm(tmp_path: Path) -> None:
    result = soak(1.0, 0.3, tmp_path)
    assert (result["lost"], result["errors"]) == (0, 0), result
    assert min(result["acknowledged"].values()) > 1_000, result
    assert result["taken_by_sleepers"] > 100, result
    # A minute is warming up for most of its time: only what runs away shows.
    assert result["growth"]["memory_bytes"] < 2, result
    assert "descriptors" not in result["grown"], result
    assert (tmp_path / "soak.png").stat().st_size > 10_000
