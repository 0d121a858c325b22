"""Does every lost reading have one place and one reason, and does what nobody accounts for show?"""

from __future__ import annotations

from lapwing.lab.crowdsourcing.balance import (
    Balance,
    bridge_losses,
    broker_losses,
    kafka_losses,
    publisher_losses,
    reader_losses,
    subscriber_losses,
)
from lapwing.lab.crowdsourcing.scrape import parse

BROKER = parse("""\
# HELP lapwing_messages_dropped_total Messages not delivered to one receiver, by reason.
lapwing_messages_dropped_total{reason="queue_full"} 7
lapwing_messages_dropped_total{reason="expired"} 0
lapwing_messages_sent_total 90
lapwing_group_messages_dropped_total{group="bridge",filter="a/#",reason="queue_full"} 2
lapwing_group_waiting_messages{group="bridge",filter="a/#",lane="bulk"} 3
""")


def test_due_is_received_and_lost() -> None:
    balance = Balance(100, 90, {"broker": {"queue_full": 7}, "controller": {"unread at the end": 3}})
    assert (balance.lost_total, balance.missing, balance.unaccounted) == (10, 10, 0)


def test_what_nobody_accounts_for_is_not_hidden() -> None:
    assert Balance(100, 90, {"broker": {"queue_full": 7}}).unaccounted == 3
    assert Balance(100, 98, {"broker": {"queue_full": 7}}).unaccounted == -5


def test_accounts_of_two_points_add_up() -> None:
    one = Balance(100, 90, {"broker": {"queue_full": 10}})
    both = one.plus(Balance(50, 45, {"broker": {"queue_full": 2}, "publisher": {"never sent": 3}}))
    assert (both.due, both.received, both.unaccounted) == (150, 135, 0)
    assert both.lost == {"publisher": {"never sent": 3}, "broker": {"queue_full": 12}}


def test_a_row_names_every_place() -> None:
    document = Balance(1, 1, {}).to_json()
    assert document["lost"] == {"publisher": {}, "broker": {}, "bridge": {}, "kafka": {}, "controller": {}}
    assert document["unaccounted"] == 0


def test_publishers_lose_what_never_came_into_the_broker() -> None:
    fleet = {"sent": 95, "rejected": 1, "resent": 0}
    assert publisher_losses(100, fleet, 95) == {"never sent": 5, "refused by the broker": 1}
    assert publisher_losses(100, {"sent": 100, "rejected": 0}, 98) == {"sent, not taken in": 2}
    # One that was sent twice and read twice is no gain.
    assert publisher_losses(100, {"sent": 100, "rejected": 0}, 103) == {}


def test_the_broker_says_why() -> None:
    assert broker_losses(BROKER) == {"queue_full": 9, "waiting at the end": 3}


def test_a_subscriber_loses_at_qos_0_only() -> None:
    counters = {"arrived": 85, "unread": 4, "dropped": 1}
    expected = {"in the connection at the end": 5, "unread at the end": 4, "dropped by the client": 1}
    assert subscriber_losses(0, counters, BROKER) == expected
    assert subscriber_losses(1, counters, BROKER) == {}


def test_the_bridge_and_the_reader_of_kafka() -> None:
    member = parse('lapwing_bridge_dead_letters_total{rule="r",direction="to_kafka",reason="too_large"} 2\n')
    assert bridge_losses([member, member]) == {"too_large": 4}
    full = parse('lapwing_bridge_dropped_total{rule="r",direction="to_kafka"} 3\n')
    assert bridge_losses([member, full]) == {"too_large": 2, "no room": 3}
    assert kafka_losses(100, 99) == {"confirmed and not there": 1}
    assert kafka_losses(100, 103) == {}  # some were sent twice
    assert reader_losses(100, 90) == {"unread at the end": 10}
    assert reader_losses(100, 100) == {}
