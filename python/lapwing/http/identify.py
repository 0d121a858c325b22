"""From the header of a request to an identity: Basic and Bearer, asked of the node, which calls back.

- The node says who it is, as for a CONNECT: users, tokens (JWT), somebody who is asked over HTTP; in the same turns,
  with the same bars. It may take as long, and no thread waits with it (`lapwing.http.asked`).
- Failed attempts are bounded per address; see `lapwing.http.attempts`. So refusals go out at once here.
- Who has got in from there goes on, asked about again; and not asked about for as long as the node says, so that a
  reader's next request costs nothing. See `lapwing.http.known`. After a ``reload`` everybody is asked about.
"""

from __future__ import annotations

import base64
import binascii

from starlette.datastructures import Headers
from starlette.types import Scope

from lapwing.http.asked import ask
from lapwing.http.attempts import FailedAttempts
from lapwing.http.authority import Authority, Identify
from lapwing.http.caller import Caller, Standing
from lapwing.http.counters import HttpCounters
from lapwing.http.errors import unauthenticated
from lapwing.http.known import Credentials, Known, KnownCallers
from lapwing.http_listener.http_error import HttpError
from lapwing.http_listener.peer import network_of

_HEADER_CHARACTERS_MAX = 32 << 10
_WITHOUT_RULES = (
    "HTTP: there are users and no rules, so over HTTP nobody may read streams, observe or administer; name who may,"
    ' as in [[rules]] identity = "alice", may = ["admin"]. With the first rule MQTT, too, permits only what rules'
    " permit: docs/http-access.md shows the rules that leave it as it is"
)
_GUARDED = (
    "HTTP serves health and metrics only: MQTT is guarded by {}, which HTTP cannot ask. Name users (auth.users) and"
    " their rights ([[rules]]), or open it to everybody who can connect: http.open = true"
)


class Identifier:
    """Tells who sent a request; used by the event loop's thread only, but for `reload`.

    Args:
        authority: Users and rules.
        identify: Tells who comes with a password or a token.
        has_rules: Whether there are rules.
        is_exposed: Whether other machines can reach the listener: then nobody gets in without credentials.
        guards: What guards MQTT beside users and rules, in words; empty: without those, everybody may everything.
        failures_max: Failed attempts of one address a minute; see ``http.failures_max``.
        counters: Where refusals are counted.
    """

    def __init__(
        self,
        authority: Authority,
        identify: Identify,
        *,
        has_rules: bool,
        is_exposed: bool,
        guards: str,
        failures_max: int,
        counters: HttpCounters,
    ) -> None:
        self._authority = authority
        self._identify = identify
        self._has_rules = has_rules
        self._is_exposed = is_exposed
        self._guards = guards
        self._attempts = FailedAttempts(failures_max)
        self._counters = counters
        self._known = KnownCallers()
        self._generation = 0
        self._known_of = 0
        self.url = ""
        """The listener's, for whoever is asked about its callers; set once it is bound."""

    def reload(self, *, has_rules: bool) -> None:
        """Users or rules have changed: everybody is verified anew. Any thread may call it."""
        self._has_rules = has_rules
        self._generation += 1

    def notice(self) -> str:
        """What an operator may not expect of who may do what here; empty: nothing. Any thread may call it."""
        if self._has_rules:
            return ""
        if self._authority.knows_somebody():
            return _WITHOUT_RULES
        return _GUARDED.format(self._guards) if self._guards and not self._is_exposed else ""

    async def caller(self, scope: Scope) -> Caller:
        """Who sent the request.

        Raises:
            HttpError: 401 without valid credentials, 429 after too many failed attempts or while barred, 503 while too
                many wait or nobody can say.
        """
        if not self._is_exposed and not self._authority.knows_somebody():
            return self._anonymous()  # as on MQTT: without users a name means nothing
        given = Headers(scope=scope).getlist("authorization")
        if not given:
            # Without rules the anonymous would be as good as any user.
            if self._has_rules and not self._is_exposed:
                return self._anonymous()
            raise self._refused(unauthenticated("this needs an identity"))
        if len(given) > 1 or len(given[0]) > _HEADER_CHARACTERS_MAX:
            raise self._refused(unauthenticated("the Authorization header is repeated or too long"))
        name = await self._name(given[0], scope["client"][0] if scope.get("client") else "")
        return Caller(name, Standing.RULED if self._has_rules else Standing.WITHOUT_RULES, self._authority)

    def _anonymous(self) -> Caller:
        """Whoever can connect, where names mean nothing or are not asked for."""
        if self._has_rules:
            return Caller(None, Standing.RULED, self._authority)
        return Caller(None, Standing.GUARDED if self._guards else Standing.OPEN, self._authority, self._guards)

    async def _name(self, header: str, address: str) -> str:
        """Whose credentials these are, from ``address``."""
        given = _given(header)
        known = None if given is None else self._find(network_of(address), given)
        if known is None and not self._attempts.allowed(address):
            raise self._too_many("throttled", "too_many_failures", "too many failed attempts from this address")
        if given is None:
            raise self._wrong(address)
        return known.name if known is not None and known.is_good() else await self._verify(given, address, known)

    def _find(self, network: str, given: Credentials) -> Known | None:
        if self._known_of != self._generation:
            self._known_of = self._generation
            self._known.all_must_be_asked()
        return self._known.find(network, given)

    async def _verify(self, given: Credentials, address: str, known: Known | None) -> str:
        """Whose the node says they are.

        Args:
            known: What was known of them before they were asked about. A guess in the meantime has ended it, and this
                does not begin it anew: else each request of somebody who is right would be one guess more.
        """
        network, generation = network_of(address), self._generation
        outcome, name, good_for_s = await ask(self._identify, *given, address, self.url)
        if outcome == "wrong":
            self._known.forget(network, given)
            raise self._wrong(address)
        if outcome != "known":
            raise self._unverified(outcome)
        if generation != self._generation:
            good_for_s = 0.0  # by the users before a reload
        if known is None:
            self._known.remember(network, given, name, good_for_s)
        else:
            known.renew(name, good_for_s)
        return name

    def _wrong(self, address: str) -> HttpError:
        self._attempts.failed(address)
        return self._refused(unauthenticated("the credentials are not valid"))

    def _unverified(self, outcome: str) -> HttpError:
        """Nobody has looked at the credentials."""
        if outcome == "barred":
            message = "too many wrong passwords from this address; nothing is checked for it now"
            return self._too_many("barred", "barred", message)
        self._counters.add("lapwing_http_refused_total", reason=outcome)
        message = "nobody can say now whose these credentials are"
        if outcome == "busy":
            message = "too many credentials are being verified"
        return HttpError(503, outcome, message, "try again after Retry-After", headers={"Retry-After": "1"})

    def _too_many(self, reason: str, code: str, message: str) -> HttpError:
        self._counters.add("lapwing_http_refused_total", reason=reason)
        return HttpError(429, code, message, "wait a minute", headers={"Retry-After": "60"})

    def _refused(self, error: HttpError) -> HttpError:
        self._counters.add("lapwing_http_refused_total", reason="unauthenticated")
        return error


def claimed_name(header: str) -> str | None:
    """The user that an ``Authorization: Basic`` names, proved or not, for the record; None where it names none."""
    scheme, _, value = header[:_HEADER_CHARACTERS_MAX].partition(" ")
    pair = _basic(value.strip()) if scheme.lower() == "basic" else None
    return None if pair is None else pair[0]


def _given(header: str) -> Credentials | None:
    """User and password of ``Basic``, or None and the token of ``Bearer``; None where it is neither."""
    scheme, _, value = header.partition(" ")
    value = value.strip()
    if scheme.lower() == "bearer":
        return (None, value.encode()) if value else None
    return _basic(value) if scheme.lower() == "basic" else None


def _basic(value: str) -> tuple[str, bytes] | None:
    """User and password of ``Authorization: Basic``; None where it is none."""
    try:
        user, colon, password = base64.b64decode(value, validate=True).partition(b":")
        return (user.decode(), password) if colon else None
    except (binascii.Error, ValueError):
        return None
