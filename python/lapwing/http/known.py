"""Who has got in, and from where: others' failures keep nobody out, and what was verified is asked again only in time.

- Of a network (``lapwing.http_listener.peer``) and a user name, the password that was right last; of a token without a
  name, the token itself. They are digests under a key of this process.
- Another password for that name from there is a guess: it ends what is known at once, before anybody has looked at it.
  So whoever guesses where nothing more is looked at hears of one password at most; and from other networks, where
  nothing is known, of none.
"""

from __future__ import annotations

import hmac
import secrets
import time
from collections import OrderedDict
from dataclasses import dataclass

KNOWN_MAX = 1024

Credentials = tuple[str | None, bytes]
"""User and password; or None and a token."""


@dataclass(slots=True)
class Known:
    """Credentials that were right; what is ended meanwhile, or has made room, is in no table any more."""

    digest: bytes
    name: str
    good_until: float = 0.0
    """By the monotonic clock; until then nobody need be asked."""

    def is_good(self) -> bool:
        """Whether nobody need be asked now."""
        return time.monotonic() < self.good_until

    def renew(self, name: str, good_for_s: float) -> None:
        """It was right once more."""
        self.name, self.good_until = name, time.monotonic() + good_for_s


class KnownCallers:
    """At most ``KNOWN_MAX``; the one that was seen longest ago makes room. Used by one thread."""

    def __init__(self) -> None:
        self._key = secrets.token_bytes(32)
        self._known: OrderedDict[bytes, Known] = OrderedDict()

    def find(self, network: str, given: Credentials) -> Known | None:
        """These, if they were right from there and nothing else was given for that name since."""
        who = self._who(network, given)
        known = self._known.get(who)
        if known is None:
            return None
        if not hmac.compare_digest(known.digest, self._digest(given)):
            del self._known[who]
            return None
        self._known.move_to_end(who)
        return known

    def remember(self, network: str, given: Credentials, name: str, good_for_s: float) -> None:
        """They are right, and ``name``'s; for so many seconds nobody need be asked."""
        known = Known(self._digest(given), name)
        known.renew(name, good_for_s)
        who = self._who(network, given)
        self._known[who] = known
        self._known.move_to_end(who)
        while len(self._known) > KNOWN_MAX:
            self._known.popitem(last=False)

    def forget(self, network: str, given: Credentials) -> None:
        """They are wrong."""
        self._known.pop(self._who(network, given), None)

    def all_must_be_asked(self) -> None:
        """Users or rules are others now: nobody is good any more, and who has got in still has."""
        for known in self._known.values():
            known.good_until = 0.0

    def _who(self, network: str, given: Credentials) -> bytes:
        username, password = given
        name = b"token " + password if username is None else b"user " + username.encode()
        return hmac.digest(self._key, network.encode() + b" " + name, "sha256")

    def _digest(self, given: Credentials) -> bytes:
        return hmac.digest(self._key, given[1], "sha256")
