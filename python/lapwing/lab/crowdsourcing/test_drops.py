"""Does every process say itself what it has dropped, and is nothing said for one that does not count it?"""

from __future__ import annotations

import pyarrow as pa
import pytest

from lapwing.lab.crowdsourcing.answer import Answer
from lapwing.lab.crowdsourcing.architecture import Evidence
from lapwing.lab.crowdsourcing.drops import drops
from lapwing.lab.crowdsourcing.part import Role
from lapwing.lab.crowdsourcing.scrape import Metrics, parse
from lapwing.lab.crowdsourcing.watch import Stress

BROKER = """\
lapwing_messages_dropped_total{reason="queue_full"} 7
lapwing_group_messages_dropped_total{group="bridge",filter="a/#",reason="queue_full"} 2
lapwing_group_waiting_messages{group="bridge",filter="a/#",lane="bulk"} 3
"""
BRIDGE = 'lapwing_bridge_dead_letters_total{rule="r",direction="to_kafka",reason="too_large"} %d\n'


def evidence(metrics: dict[str, Metrics], *, unsent: int = 0, **counters: int) -> Evidence:
    answer = Answer(0, 0, 0, 0, 0, pa.table({}), counters)
    return Evidence(1, 100, {"unsent": unsent}, answer, metrics, {})


@pytest.mark.parametrize(
    ("name", "role", "expected"),
    [
        ("generator", "generator", {"never sent": 4}),
        ("broker", "broker", {"queue_full": 9}),  # what waits at the end is not dropped
        ("bridge-0", "bridge", {"too_large": 2}),
        ("bridge-1", "bridge", {}),
        ("controller", "controller", {"dropped by the client": 5}),
    ],
)
def test_each_process_tells_its_own(name: str, role: Role, expected: dict[str, int]) -> None:
    metrics = {"broker": parse(BROKER), "bridge-0": parse(BRIDGE % 2), "bridge-1": parse(BRIDGE % 0)}
    told = evidence(metrics, unsent=4, dropped=5, arrived=90, unread=1)
    assert drops(Stress(name, role), told) == expected


@pytest.mark.parametrize("role", ["broker", "bridge", "kafka", "controller", "proxy"])
def test_who_counts_none_or_was_never_asked_says_nothing(role: Role) -> None:
    assert drops(Stress("it", role), evidence({})) is None
