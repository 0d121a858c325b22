"""Who sent a request, and what that one may do. Whoever may not learns nothing about what exists."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from starlette.types import Scope

from lapwing.http.authority import Authority
from lapwing.http.errors import unauthenticated
from lapwing.http_listener.http_error import HttpError

_KEY = "lapwing.caller"


class Standing(Enum):
    """What decides the rights of a caller."""

    RULED = "rules"
    """There are rules, and they decide."""

    WITHOUT_RULES = "without rules"
    """A user where there are no rules. Over MQTT it may everything then; here nothing, for over HTTP that would be to
    administer, and a device's password would be an administrator's."""

    OPEN = "open"
    """There are neither users nor rules, and MQTT takes whoever comes: so does HTTP."""

    GUARDED = "guarded"
    """There are neither users nor rules, and MQTT is guarded by what HTTP cannot ask: it serves figures, no more."""


@dataclass(frozen=True)
class Caller:
    """An identity behind a request.

    Attributes:
        name: The identity; None: anonymous.
        standing: What decides its rights.
        authority: Who knows the rules.
        guards: What guards MQTT, in words; for those who are refused because of it.
    """

    name: str | None
    standing: Standing
    authority: Authority
    guards: str = ""

    def may_read(self, stream: str) -> bool:
        """Whether it may read that stream, if there is one."""
        return self._may("stream", stream)

    def may_observe(self) -> bool:
        """Whether it may see sessions, queues, groups and the counters; who administers may."""
        return self._may("observe", "*")

    def may_administer(self) -> bool:
        """Whether it may change things."""
        return self._may("admin", "*")

    def may_see(self, stream: str) -> bool:
        """Whether it may know that the stream exists."""
        return self.may_read(stream) or self.may_administer()

    def need_to_read(self, stream: str) -> None:
        """Raises `HttpError` 403 unless it may; the same whether there is such a stream or not."""
        if not self.may_read(stream):
            raise self._no_stream(stream)

    def need_to_see(self, stream: str) -> None:
        """Raises `HttpError` 403 unless it may; the same whether there is such a stream or not."""
        if not self.may_see(stream):
            raise self._no_stream(stream)

    def need_to_list(self) -> None:
        """Raises `HttpError` 401 or 403 for one who would see no stream whatever streams there were."""
        is_nobody = self.name is None and self.standing is Standing.RULED
        if is_nobody or self.standing in (Standing.WITHOUT_RULES, Standing.GUARDED):
            raise self._forbidden("see streams", 'may = ["stream"], streams = ["*"]')

    def need_to_see_figures(self) -> None:
        """Raises `HttpError` 403 unless it may see the counters."""
        # Where nobody can say who he is, a monitor cannot either; the counters name streams and groups, no client.
        if self.standing is not Standing.GUARDED:
            self.need_to_observe()

    def need_to_observe(self) -> None:
        """Raises `HttpError` 403 unless it may."""
        if not self.may_observe():
            raise self._forbidden("see this", 'may = ["observe"]')

    def need_to_administer(self) -> None:
        """Raises `HttpError` 403 unless it may."""
        if not self.may_administer():
            raise self._forbidden("do this", 'may = ["admin"]')

    def _may(self, right: str, what: str) -> bool:
        if self.standing is Standing.RULED:
            # Rules may have gone since this caller was known: then nobody may anything.
            return self.authority.is_permitted(self.name, right, what)
        return self.standing is Standing.OPEN

    def _no_stream(self, stream: str) -> HttpError:
        return self._forbidden(f"read stream {stream!r}", f'may = ["stream"], streams = ["{stream}"]')

    def _forbidden(self, what: str, rule: str) -> HttpError:
        if self.standing is Standing.GUARDED:
            message = f"MQTT is guarded by {self.guards}, which HTTP cannot ask: it serves health and metrics only"
            remedy = "name users (auth.users) and their rights ([[rules]]); or open it to everybody: http.open = true"
            return HttpError(403, "guarded", message, remedy)
        if self.name is None:
            # Somebody with a name might: a client that has one shows it after this answer.
            return unauthenticated("this needs an identity")
        remedy = f'ask for a rule: [[rules]] identity = "{self.name}", {rule}'
        if self.standing is Standing.WITHOUT_RULES:
            remedy += "; there are none, and without rules nobody has rights over HTTP"
        return HttpError(403, "forbidden", f"{self.name!r} may not {what}", remedy)


def put_caller(scope: Scope, caller: Caller) -> None:
    """Notes who sent the request."""
    scope[_KEY] = caller


def known_caller(scope: Scope) -> Caller | None:
    """Who sent the request; None where nobody has asked, or nobody knows."""
    caller = scope.get(_KEY)
    return caller if isinstance(caller, Caller) else None


def caller_of(scope: Scope) -> Caller:
    """Who sent the request; there is one on every path that is not open to all."""
    caller = scope[_KEY]
    assert isinstance(caller, Caller)
    return caller
