"""Who sent a request, and what that one may do. Whoever may not learns nothing about what exists."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.types import Scope

from lapwing.http.authority import Authority
from lapwing.http.errors import HttpError, unauthenticated

_KEY = "lapwing.caller"


@dataclass(frozen=True)
class Caller:
    """An identity behind a request.

    Attributes:
        name: The identity; None: anonymous.
        authority: Who decides what it may do; None: there are neither users nor rules, whoever can connect may all.
    """

    name: str | None
    authority: Authority | None

    def may_read(self, stream: str) -> bool:
        """Whether it may read that stream, if there is one."""
        return self.authority is None or self.authority.may(self.name, "stream", stream)

    def may_observe(self) -> bool:
        """Whether it may see sessions, queues, groups and the counters; who administers may."""
        return self.authority is None or self.authority.may(self.name, "observe", "*")

    def may_administer(self) -> bool:
        """Whether it may change things."""
        return self.authority is None or self.authority.may(self.name, "admin", "*")

    def may_see(self, stream: str) -> bool:
        """Whether it may know that the stream exists."""
        return self.may_read(stream) or self.may_administer()

    def need_to_read(self, stream: str) -> None:
        """Raises `HttpError` 403 unless it may; the same whether there is such a stream or not."""
        if not self.may_read(stream):
            raise self._forbidden(f"read stream {stream!r}", f'may = ["stream"], streams = ["{stream}"]')

    def need_to_see(self, stream: str) -> None:
        """Raises `HttpError` 403 unless it may; the same whether there is such a stream or not."""
        if not self.may_see(stream):
            raise self._forbidden(f"read stream {stream!r}", f'may = ["stream"], streams = ["{stream}"]')

    def need_a_name(self) -> None:
        """Raises `HttpError` 401 for the anonymous where others have names."""
        if self.name is None and self.authority is not None:
            raise unauthenticated("this needs an identity")

    def need_to_observe(self) -> None:
        """Raises `HttpError` 403 unless it may."""
        if not self.may_observe():
            raise self._forbidden("see this", 'may = ["observe"]')

    def need_to_administer(self) -> None:
        """Raises `HttpError` 403 unless it may."""
        if not self.may_administer():
            raise self._forbidden("do this", 'may = ["admin"]')

    def _forbidden(self, what: str, rule: str) -> HttpError:
        if self.name is None:
            # Somebody with a name might: a client that has one shows it after this answer.
            return unauthenticated("this needs an identity")
        remedy = f'ask for a rule: [[rules]] identity = "{self.name}", {rule}'
        return HttpError(403, "forbidden", f"{self.name!r} may not {what}", remedy)


def put_caller(scope: Scope, caller: Caller) -> None:
    """Notes who sent the request."""
    scope[_KEY] = caller


def caller_of(scope: Scope) -> Caller:
    """Who sent the request; there is one on every path that is not open to all."""
    caller = scope[_KEY]
    assert isinstance(caller, Caller)
    return caller
