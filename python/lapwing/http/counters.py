"""Counters of the HTTP side, added to the node's own text under ``/metrics``; and whom it refuses, in the log.

Touched by the event loop's thread only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from lapwing.http.refusals import Refusals

_HELP = {
    "lapwing_http_requests_total": "Requests answered, by route and status.",
    "lapwing_http_reads_refused_total": "Stream reads answered 503: http.reads_max ran, or memory was above its mark.",
    "lapwing_http_slow_readers_total": "Connections cut off: less than 256 KiB was taken in http.write_timeout, and "
    "not all, or a stream read not within http.read_timeout.",
    "lapwing_http_readers_ignored_total": "Stream reads for a page of another site that named a reader: none moved.",
    "lapwing_http_connections_refused_total": "Connections refused, or closed for another: http.connections_max open.",
    "lapwing_http_connections_late_total": "Connections closed: no whole request within http.keep_alive.",
    "lapwing_http_accept_failures_total": "Connections that could not be accepted.",
    "lapwing_http_handshakes_failed_total": "TLS handshakes that failed or did not end within http.keep_alive.",
    "lapwing_http_certificates_lapsed_total": "Connections closed: the client's certificate is over, or was shown "
    "before files were read again.",
    "lapwing_http_refused_total": "Requests refused for who sent them, or what name they call us by, by reason.",
    "lapwing_http_body_bytes_total": "Bytes of stream bodies sent.",
}

_ENDED = {
    "lapwing_http_connections_refused_total": "http.connections_max are open",
    "lapwing_http_connections_late_total": "no whole request within http.keep_alive",
    "lapwing_http_slow_readers_total": "it takes its answer too slowly",
    "lapwing_http_handshakes_failed_total": "its TLS handshake failed, or did not end within http.keep_alive",
    "lapwing_http_certificates_lapsed_total": "its certificate is over, or was shown before files were read again",
}


REFUSALS = (
    "unauthenticated",
    "forbidden",
    "throttled",
    "barred",
    "busy",
    "unavailable",
    "misdirected",
    "cross_site",
)
"""No valid credentials; no right; too many failed attempts from the address; too many wrong passwords of it, over MQTT
or here; too many verifications at a time; nobody can say who it is; a Host that is not ours; a page of another site."""


class HttpCounters:
    """Counts by name and labels.

    Attributes:
        refusals: Tells the log.
    """

    def __init__(self) -> None:
        self.refusals = Refusals()
        self._values: Counter[tuple[str, str]] = Counter()
        for name in _HELP:
            if name not in ("lapwing_http_requests_total", "lapwing_http_refused_total"):
                self._values[name, ""] = 0
        for reason in REFUSALS:
            self.add("lapwing_http_refused_total", 0, reason=reason)

    def add(self, name: str, amount: int = 1, **labels: str) -> None:
        """Adds to one counter; ``name`` is one of those with a help line here."""
        text = ",".join(f'{label}="{value}"' for label, value in labels.items())
        self._values[name, text] += amount

    def ended(self, name: str, address: str) -> None:
        """A connection was ended, most before they had a request: counted under ``name``, and told."""
        self.add(name)
        self.refusals.connection(address, _ENDED[name])

    def not_accepted(self, error: OSError) -> None:
        """The kernel has a connection, and could not give it: no descriptor is left, say."""
        self.add("lapwing_http_accept_failures_total")
        self.refusals.accepting(error)

    def no_http(self, address: str) -> None:
        """What a connection sent is no request, or none that is whole."""
        self.add("lapwing_http_requests_total", route="unknown", status="400")
        self.refusals.connection(address, "what it sent is no HTTP/1.1")

    def refused_at_the_door(self, reason: str, status: int) -> None:
        """A request that no route has seen."""
        self.add("lapwing_http_refused_total", reason=reason)
        self.add("lapwing_http_requests_total", route="unknown", status=str(status))

    def text(self) -> str:
        """Prometheus text format."""
        return "".join(self._lines())

    def _lines(self) -> Iterator[str]:
        for name, help_text in _HELP.items():
            yield f"# HELP {name} {help_text}\n# TYPE {name} counter\n"
            for (known, labels), value in sorted(self._values.items()):
                if known == name:
                    yield f"{name}{{{labels}}} {value}\n" if labels else f"{name} {value}\n"
