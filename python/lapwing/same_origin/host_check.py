"""The ASGI middleware; what is a page, and what is one of our names, is decided in `lapwing.same_origin.host_names`."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from lapwing.json_answer import JsonAnswer
from lapwing.same_origin.host_names import HostNames, is_foreign, only_looks
from lapwing.same_origin.seldom import Seldom

MISDIRECTED, CROSS_SITE = "misdirected", "cross_site"
NO_SNIFFING = (b"x-content-type-options", b"nosniff")
_OWN_PAGES_ONLY = (b"cross-origin-resource-policy", b"same-origin")
"""No browser shows or gives the answer to a page of another site, in whatever way that page asked for it."""
_LOOKS = "lapwing.looks"
_SHOWN_CHARACTERS_MAX = 64
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Refusal:
    """Why a request gets no further: the code is the reason it is counted under, too."""

    status: int
    code: str
    message: str
    remedy: str

    def response(self) -> JsonAnswer:
        """In the form of every error of ours."""
        error = {"code": self.code, "message": self.message, "remedy": self.remedy}
        return JsonAnswer({"error": error}, status_code=self.status)


def looks_for_a_page(scope: Scope) -> bool:
    """Whether a link or an image of another site's page asks: it is answered, and must change nothing."""
    return bool(scope.get(_LOOKS))


class HostCheck:
    """The outermost middleware.

    Args:
        app: What answers the others.
        names: What the listener is called.
        remedy: What helps somebody who calls it something else.
        refused: Told the reason and the status of each request that is refused.
    """

    def __init__(self, app: ASGIApp, names: HostNames, *, remedy: str, refused: Callable[[str, int], None]) -> None:
        self._app = app
        self._names = names
        self._remedy = remedy
        self._refused = refused
        self._seldom = Seldom(_log)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_as_it_is(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message.get("headers", ()), NO_SNIFFING, _OWN_PAGES_ONLY]}
            await send(message)

        refusal = self._judge(scope)
        if refusal is None:
            await self._app(scope, receive, send_as_it_is)
            return
        self._note(refusal, scope)
        await refusal.response()(scope, receive, send_as_it_is)

    def _judge(self, scope: Scope) -> Refusal | None:
        headers = Headers(scope=scope)
        hosts = headers.getlist("host")
        local = scope["server"][0] if scope.get("server") else ""
        # HTTP/1.0 may do without Host (and some load balancers ask for health so); no browser does.
        if len(hosts) > 1 or not all(self._names.includes(host, local) for host in hosts):
            return Refusal(421, MISDIRECTED, f"this is not called {_shown(', '.join(hosts))} (Host)", self._remedy)
        origins = headers.getlist("origin")
        if is_foreign("".join(hosts), origins, headers.getlist("sec-fetch-site")):
            if only_looks(scope["method"], origins):
                scope[_LOOKS] = True
                return None
            message = "a page of another site asks (Origin, Sec-Fetch-Site)"
            return Refusal(
                403, CROSS_SITE, message, "open the address itself, or ask with a program that is no browser"
            )
        return None

    def _note(self, refusal: Refusal, scope: Scope) -> None:
        self._refused(refusal.code, refusal.status)
        client = scope["client"][0] if scope.get("client") else "somebody"
        line = f"HTTP refuses a request of {client}: {refusal.message}; {refusal.remedy}"
        self._seldom.tell(refusal.code, line)


def _shown(host: str) -> str:
    """What a stranger has written, as ASCII and not at length: in a log it is no line of its own."""
    return ascii(host if len(host) <= _SHOWN_CHARACTERS_MAX else f"{host[:_SHOWN_CHARACTERS_MAX]}...")
