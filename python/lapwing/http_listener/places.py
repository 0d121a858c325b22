"""Who has a place at the listener: so many in all, by turns among the addresses, and a few more kept for health.

A connection *waits* while it is not being answered: in its handshake, before the head of its request is whole, and
idle between two requests. Waiting costs a stranger nothing. So where all places are taken, a new connection gets that
of the one that has waited longest among those of the address that has most of them: a flood displaces itself, and
somebody else's one connection stays. Where nobody has more than the newcomer it is asked for its request all the same,
at one of ``KEPT`` further places, and served if it is for health: who is told nothing by ``/healthz`` starts the broker
again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable

from lapwing.http_listener.peer import network_of

KEPT = 8
"""Places beyond ``http.connections_max``: as many as orchestrators, balancers and people ask at one time."""


class Place:
    """What one connection has; `Places.take` makes it.

    Attributes:
        network: The address, or the /64 of IPv6, that it counts for.
        give_up: Ends the connection, when it must make room for another.
        is_kept: Only health is served here.
    """

    def __init__(self, network: str, give_up: Callable[[], None], *, is_kept: bool) -> None:
        self.network = network
        self.give_up = give_up
        self.is_kept = is_kept


class Places:
    """All places of one listener; used by the event loop's thread only.

    Args:
        connections_max: Places for every request; ``KEPT`` more are for health.
    """

    def __init__(self, connections_max: int) -> None:
        self.connections_max = connections_max
        self._taken: set[Place] = set()
        self._kept: set[Place] = set()
        # Those of them that wait: sets that keep their order, so the first has waited longest.
        self._taken_waiting: defaultdict[str, dict[Place, None]] = defaultdict(dict)
        self._kept_waiting: dict[Place, None] = {}

    def take(self, address: str, give_up: Callable[[], None]) -> Place | None:
        """A place for a new connection, which waits; None: all are taken by connections that are being answered."""
        network = network_of(address)
        if self._is_full():
            self._displace_for(network)
        place = Place(network, give_up, is_kept=self._is_full())
        if place.is_kept and len(self._kept) >= KEPT:
            if not self._kept_waiting:
                return None
            self._end(next(iter(self._kept_waiting)))
        (self._kept if place.is_kept else self._taken).add(place)
        self.wait(place)
        return place

    def wait(self, place: Place) -> None:
        """It asks for nothing: it has just come, or its request is answered."""
        if place in self._kept:
            self._kept_waiting[place] = None
        elif place in self._taken:
            self._taken_waiting[place.network][place] = None

    def go_on(self, place: Place) -> None:
        """The head of a request is whole; a kept place becomes one like the others if there is room by now."""
        self._wait_no_more(place)
        if place in self._kept and not self._is_full():
            self._kept.remove(place)
            self._taken.add(place)
            place.is_kept = False

    def leave(self, place: Place) -> None:
        """The connection is gone, or goes; more than once does no harm."""
        self._wait_no_more(place)
        self._taken.discard(place)
        self._kept.discard(place)

    def _is_full(self) -> bool:
        return len(self._taken) >= self.connections_max

    def _displace_for(self, network: str) -> None:
        """Ends one connection of the address with most that wait, unless the newcomer's would have as many then."""
        by_network = self._taken_waiting
        most = max(by_network, key=lambda each: len(by_network[each]), default=None)
        if most is None:
            return
        if most == network or len(by_network[most]) > len(by_network.get(network, ())) + 1:
            self._end(next(iter(by_network[most])))

    def _end(self, place: Place) -> None:
        self.leave(place)
        place.give_up()

    def _wait_no_more(self, place: Place) -> None:
        self._kept_waiting.pop(place, None)
        waiting = self._taken_waiting.get(place.network, {})
        waiting.pop(place, None)
        if not waiting:
            self._taken_waiting.pop(place.network, None)
