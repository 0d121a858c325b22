"""Who knows the identities: what this room asks of the broker's own authority and node (``lapwing._core``)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, Protocol

Outcome = Literal["known", "wrong", "barred", "busy", "unavailable"]


class Authority(Protocol):
    """The same users and rules as on MQTT."""

    def knows_somebody(self) -> bool:
        """Whether there are users, tokens (JWT) or somebody to ask; without, no password and no token is anybody's."""

    def is_permitted(self, identity: str | None, right: str, what: str) -> bool:
        """Whether there are rules that permit it (None: anonymous): to read a ``stream`` of that name, to ``observe``,
        or to ``admin``, which takes in ``observe``."""

    def reload(self, config_json: str) -> None:
        """Takes other users and rules from now on; on an error nothing changes."""


class Identify(Protocol):
    """``Node.identify``: never waits, for it may take as long as a CONNECT."""

    def __call__(
        self,
        username: str | None,
        password: bytes,
        address: str,
        listener: str,
        then: Callable[[Outcome, str, float], object],
        /,
    ) -> tuple[Outcome, str, float] | None:
        """Who comes with that, as MQTT would say: with ``known`` a name, and for how many seconds that is so. None:
        that takes work, and ``then`` is called with it, once, on another thread.

        ``wrong``: nobody has these. ``barred``: nothing of that address or name is checked for a while. ``busy``: too
        many wait. ``unavailable``: nobody can say now.
        """
