"""For how long was nobody served? From the kill to the next node's first words, and not to the killed one's last."""

from __future__ import annotations

from lapwing.lab.cluster_demo.outage import Outage


def test_an_outage() -> None:
    outage = Outage("n1", 100.0)
    outage.acknowledged("n1", 100.01)
    outage.connected("n1", 100.02, is_present=True)
    outage.all_connected(100.02)
    outage.connected("n2", 102.0, is_present=False)
    assert (outage.connack_s, outage.acknowledged_s, outage.all_back_s) == (None, None, None)
    outage.connected("n2", 102.5, is_present=True)
    assert not outage.is_over
    for late_s in (0.0, 1.0):
        outage.connected("n2", 102.6 + late_s, is_present=True)
        outage.acknowledged("n2", 103.0 + late_s)
        outage.all_connected(103.5 + late_s)
    assert outage.is_over
    assert (outage.successor, outage.connack_s, outage.acknowledged_s, outage.all_back_s) == ("n2", 2.5, 3.0, 3.5)
