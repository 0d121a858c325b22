"""Do the figures of several lanes add up to those of their rule?"""

from __future__ import annotations

from lapwing.bridge.behind import Behind
from lapwing.bridge.counts import Counts, prometheus_text


def test_lanes_of_one_rule_share_its_partitions() -> None:
    """Is what they have before them added up, and an age not?"""
    first, second, third = (Counts("r", "to_mqtt") for _ in range(3))
    first.behind, second.behind = 3, 4
    first.lag_s, second.lag_s = 1.0, 2.0
    text = prometheus_text([first, second, third])
    assert 'lapwing_bridge_behind_records{rule="r",direction="to_mqtt"} 7\n' in text
    assert 'lapwing_bridge_lag_seconds{rule="r",direction="to_mqtt"} 2.000000' in text
    assert 'lapwing_bridge_connected{rule="r",direction="to_mqtt"} 3' in text


def test_what_is_not_known_is_not_shown() -> None:
    assert "behind_records{" not in prometheus_text([Counts("r", "to_mqtt")])


def test_behind() -> None:
    behind = Behind()
    assert behind.records == -1
    behind.ends({0: 10, 1: 20, 2: 5})
    behind.done({0: 4, 1: 21})
    assert behind.records == 6
    behind.keep({1})
    assert behind.records == 0
