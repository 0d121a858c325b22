"""From the header of a request to an identity: Basic and Bearer, verified off the event loop.

- A password costs milliseconds by design (argon2id): ``VERIFICATIONS_MAX`` run at a time, ``WAITING_MAX`` wait, what
  comes beyond is answered 503.
- What was verified is remembered for ``REMEMBERED_S``, under a keyed hash: a reader's next request costs nothing.
  ``reload`` empties that memory when users change.
- Failed attempts are bounded per address; see `lapwing.http.attempts`.
"""

from __future__ import annotations

import base64
import binascii
import hmac
import secrets
import time
from collections import OrderedDict
from functools import partial

import anyio
from starlette.datastructures import Headers
from starlette.types import Scope

from lapwing.http.attempts import FailedAttempts
from lapwing.http.authority import Authority
from lapwing.http.caller import Caller, Standing
from lapwing.http.counters import HttpCounters
from lapwing.http.errors import HttpError, unauthenticated

VERIFICATIONS_MAX = 2
WAITING_MAX = 32
REMEMBERED_S = 60.0
REMEMBERED_MAX = 1024
_HEADER_CHARACTERS_MAX = 8192
_WITHOUT_RULES = (
    "HTTP: there are users and no rules, so over HTTP nobody may read streams, observe or administer; name who may,"
    ' as in [[rules]] identity = "alice", may = ["admin"]. With the first rule MQTT, too, permits only what rules'
    " permit: docs/security.md shows the rules that leave it as it is"
)
_GUARDED = (
    "HTTP serves health and metrics only: MQTT is guarded by {}, which HTTP cannot ask. Name users (auth.users) and"
    " their rights ([[rules]]), or open it to everybody who can connect: http.open = true"
)


class Identifier:
    """Tells who sent a request; used by the event loop's thread only, but for `reload`.

    Args:
        authority: Users and rules.
        has_rules: Whether there are rules.
        is_exposed: Whether other machines can reach the listener: then nobody gets in without credentials.
        guards: What guards MQTT beside users and rules, in words; empty: without those, everybody may everything.
        failures_max: Failed attempts of one address a minute; see ``http.failures_max``.
        counters: Where refusals are counted.
    """

    def __init__(
        self,
        authority: Authority,
        *,
        has_rules: bool,
        is_exposed: bool,
        guards: str,
        failures_max: int,
        counters: HttpCounters,
    ) -> None:
        self._authority = authority
        self._has_rules = has_rules
        self._is_exposed = is_exposed
        self._guards = guards
        self._attempts = FailedAttempts(failures_max)
        self._counters = counters
        self._hash_key = secrets.token_bytes(32)
        self._remembered: OrderedDict[bytes, tuple[str, float]] = OrderedDict()
        self._generation = 0
        self._threads: anyio.CapacityLimiter | None = None
        self._asked = 0

    def reload(self, *, has_rules: bool) -> None:
        """Users or rules have changed: everybody is verified anew. Any thread may call it."""
        self._has_rules = has_rules
        self._generation += 1

    def notice(self) -> str:
        """What an operator may not expect of who may do what here; empty: nothing. Any thread may call it."""
        if self._has_rules:
            return ""
        if self._authority.has_users():
            return _WITHOUT_RULES
        return _GUARDED.format(self._guards) if self._guards and not self._is_exposed else ""

    async def caller(self, scope: Scope) -> Caller:
        """Who sent the request.

        Raises:
            HttpError: 401 without valid credentials, 429 after too many failed attempts, 503 while too many wait.
        """
        if not self._is_exposed and not self._authority.has_users():
            return self._anonymous()  # as on MQTT: without users a name means nothing
        given = Headers(scope=scope).getlist("authorization")
        if not given:
            # Without rules the anonymous would be as good as any user.
            if self._has_rules and not self._is_exposed:
                return self._anonymous()
            raise self._refused(unauthenticated("this needs an identity"))
        if len(given) > 1 or len(given[0]) > _HEADER_CHARACTERS_MAX:
            raise self._refused(unauthenticated("the Authorization header is repeated or too long"))
        key = hmac.digest(self._hash_key, b"%d " % self._generation + given[0].encode("latin-1"), "sha256")
        name = self._recall(key)
        if name is None:
            name = await self._verify(given[0], scope)
            self._remember(key, name)
        return Caller(name, Standing.RULED if self._has_rules else Standing.WITHOUT_RULES, self._authority)

    def _anonymous(self) -> Caller:
        """Whoever can connect, where names mean nothing or are not asked for."""
        if self._has_rules:
            return Caller(None, Standing.RULED, self._authority)
        return Caller(None, Standing.GUARDED if self._guards else Standing.OPEN, self._authority, self._guards)

    async def _verify(self, header: str, scope: Scope) -> str:
        address = scope["client"][0] if scope.get("client") else ""
        if not self._attempts.allowed(address):
            self._counters.add("lapwing_http_refused_total", reason="throttled")
            message = "too many failed attempts from this address"
            raise HttpError(429, "too_many_failures", message, "wait a minute", headers={"Retry-After": "60"})
        name = await self._ask(header)
        if name is None:
            self._attempts.failed(address)
            raise self._refused(unauthenticated("the credentials are not valid"))
        return name

    async def _ask(self, header: str) -> str | None:
        """The identity that the credentials belong to; asked in a thread, of which there are few."""
        scheme, _, value = header.partition(" ")
        value = value.strip()
        if scheme.lower() == "bearer":
            return await self._in_thread(partial(self._authority.check_token, value))
        pair = _basic(value) if scheme.lower() == "basic" else None
        if pair is None:
            return None
        return await self._in_thread(partial(self._authority.check_password, *pair))

    async def _in_thread(self, check: partial[str | None]) -> str | None:
        if self._asked >= VERIFICATIONS_MAX + WAITING_MAX:
            self._counters.add("lapwing_http_refused_total", reason="busy")
            message = "too many credentials are being verified"
            raise HttpError(503, "busy", message, "try again after Retry-After", headers={"Retry-After": "1"})
        # Made in the event loop, which is not running yet when the application is put together.
        self._threads = self._threads or anyio.CapacityLimiter(VERIFICATIONS_MAX)
        self._asked += 1
        try:
            return await anyio.to_thread.run_sync(check, limiter=self._threads)
        finally:
            self._asked -= 1

    def _refused(self, error: HttpError) -> HttpError:
        self._counters.add("lapwing_http_refused_total", reason="unauthenticated")
        return error

    def _recall(self, key: bytes) -> str | None:
        name, until = self._remembered.get(key, ("", 0.0))
        return name if time.monotonic() < until else None

    def _remember(self, key: bytes, name: str) -> None:
        self._remembered[key] = name, time.monotonic() + REMEMBERED_S
        self._remembered.move_to_end(key)
        while len(self._remembered) > REMEMBERED_MAX:
            self._remembered.popitem(last=False)


def claimed_name(header: str) -> str | None:
    """The user that an ``Authorization: Basic`` names, proved or not, for the record; None where it names none."""
    scheme, _, value = header[:_HEADER_CHARACTERS_MAX].partition(" ")
    pair = _basic(value.strip()) if scheme.lower() == "basic" else None
    return None if pair is None else pair[0]


def _basic(value: str) -> tuple[str, bytes] | None:
    """User and password of ``Authorization: Basic``; None where it is none."""
    try:
        user, colon, password = base64.b64decode(value, validate=True).partition(b":")
        return (user.decode(), password) if colon else None
    except (binascii.Error, ValueError):
        return None
