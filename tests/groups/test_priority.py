"""Critical work goes first, whoever said that it is critical; also when the publisher speaks 3.1.1."""

from __future__ import annotations

import pytest
from crew import SHARES, TIGHT, Hand, publish, until_group
from members import NEVER_STALLED, said

import lapwing

pytestmark = pytest.mark.parametrize("shards", SHARES)
RULE = {"g": {"filters": ["t/#"], "rules": [{"topics": ["t/fire/#"], "priority": "critical"}], **NEVER_STALLED}}


@pytest.mark.parametrize("version", [4, 5])
def test_critical_work_is_done_first(shards, version):
    """50 bulk messages wait, then 10 critical ones come: does the first member that joins finish those first?"""
    with lapwing.Broker(shards=shards, limits=TIGHT, groups=RULE) as broker:
        bulk, critical = [b"b%d" % n for n in range(50)], [b"c%d" % n for n in range(10)]
        publish(broker, *bulk, version=version)
        if version == 5:
            publish(broker, *critical, properties=said(priority="critical"))
        else:
            publish(broker, *critical, topic="t/fire/1", version=4)
        until_group(broker, lambda found: (found["waiting_critical"], found["waiting_bulk"]) == (10, 50))
        with Hand.joins(broker.url, "c", version=version) as only:
            taken = only.takes(60)
        assert taken == critical + bulk


def test_bulk_gives_way_when_the_queue_is_full(shards):
    """Room for four: do critical messages drive bulk out, the oldest first, and never the other way round?"""
    groups = {"g": {**RULE["g"], "queue_messages_max": 4}}
    with lapwing.Broker(shards=shards, groups=groups) as broker:
        publish(broker, b"c0", b"c1", b"c2", topic="t/fire/1")
        publish(broker, b"b0", b"b1", b"b2")
        publish(broker, b"c3", topic="t/fire/1")
        found = until_group(broker, lambda found: found["counters"]["published"] == 7)
        assert (found["waiting_critical"], found["counters"]["dropped"]) == (4, {"queue_full": 3})
        with Hand.joins(broker.url, "c") as only:
            assert only.takes(4) == [b"c0", b"c1", b"c2", b"c3"]
