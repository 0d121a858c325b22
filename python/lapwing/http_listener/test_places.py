"""Who gets a place where all are taken, and whose is it?"""

from __future__ import annotations

from lapwing.http_listener.places import KEPT, Place, Places


class Door:
    """Places, and who was asked to go, by name."""

    def __init__(self, connections_max: int) -> None:
        self.places = Places(connections_max)
        self.gone: list[str] = []

    def come(self, name: str, address: str = "10.0.0.1") -> Place | None:
        return self.places.take(address, lambda: self.gone.append(name))

    def come_in(self, name: str, address: str = "10.0.0.1") -> Place:
        place = self.come(name, address)
        assert place is not None
        return place


def test_a_flood_displaces_itself_the_oldest_first() -> None:
    door = Door(4)
    for number in range(10):
        assert not door.come_in(f"{number}").is_kept
    assert door.gone == [f"{number}" for number in range(6)]


def test_a_flood_of_one_address_displaces_nobody_else() -> None:
    door = Door(4)
    door.come_in("somebody", "10.0.0.2")
    for number in range(9):
        door.come_in(f"{number}")
    door.come_in("another", "10.0.0.3")
    assert "somebody" not in door.gone
    assert len(door.gone) == 7


def test_addresses_with_one_each_keep_theirs_and_health_has_its_own() -> None:
    """Are the kept places kept from those who come first, and given to those who came last?"""
    door = Door(4)
    for number in range(4 + KEPT):
        assert door.come_in(f"{number}", f"10.0.1.{number}").is_kept == (number >= 4)
    assert door.gone == []
    assert door.come_in("newest", "10.0.2.1").is_kept
    assert door.gone == ["4"], "the kept one that has waited longest"


def test_a_network_of_ipv6_counts_as_one() -> None:
    door = Door(2)
    for number in range(3):
        door.come_in(f"{number}", f"2001:db8::{number:x}")
    assert door.gone == ["0"]


def test_addresses_of_ipv4_at_a_listener_of_ipv6_count_each() -> None:
    door = Door(3)
    door.come_in("somebody", "::ffff:192.0.2.9")
    for number in range(4):
        door.come_in(f"{number}", "::ffff:192.0.2.1")
    assert door.gone == ["0", "1"]


def test_who_is_answered_is_left_alone() -> None:
    """Are connections that ask for something never displaced, and is one refused when all of them do?"""
    door = Door(2)
    places = [door.come_in(f"{number}") for number in range(2)]
    for place in places:
        door.places.go_on(place)
    kept = [door.come_in(f"kept {number}") for number in range(KEPT)]
    for place in kept:
        assert place.is_kept
        door.places.go_on(place)
    assert door.gone == [], "of one address, and there was room for all of them"
    assert door.come("too many") is None
    assert door.gone == []
    door.places.wait(places[1])
    assert not door.come_in("later").is_kept
    assert door.gone == ["1"], "idle between two requests"


def test_a_kept_place_is_like_the_others_once_there_is_room() -> None:
    door = Door(1)
    first = door.come_in("first", "10.0.0.1")
    second = door.come_in("second", "10.0.0.2")
    door.places.leave(first)
    door.places.leave(first)
    assert second.is_kept
    door.places.go_on(second)
    assert not second.is_kept
    door.places.leave(second)
    door.places.wait(second)
    assert not door.come_in("third").is_kept, "who has left neither waits nor has a place"
