"""The benchmark of MQTT-SN in small: does it say what it is to say, and is nothing lost or doubled?"""

from __future__ import annotations

from pathlib import Path

import pytest
from benches.sn_bench import PARTS, measure
from benches.sn_sizes import QUICK, Sizes


def test_sizes_that_measure_nothing_are_refused() -> None:
    for sizes in (Sizes(rounds=0), Sizes(seconds=-1.0), Sizes(pairs=()), Sizes(idle=0)):
        with pytest.raises(ValueError, match=r"above 0|more than 0"):
            measure(sizes, (), Path())


@pytest.mark.nightly
@pytest.mark.timeout(240)
def test_a_short_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    measure(QUICK, PARTS, tmp_path / "sn" / "latency.png")
    said = capsys.readouterr().out
    assert (tmp_path / "sn" / "latency.png").stat().st_size > 10_000
    for what in ("messages lost", "messages that came twice", "times awake and not drained"):
        assert f"reached  {what}: 0" in said, said
    assert all(
        who in said for who in ("lapwing, MQTT-SN", "mosquitto, TCP", "resident bytes per idle client", "lapwingd")
    ), said
