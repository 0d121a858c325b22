"""Whether what listens at an address of this machine is a bridge of ours."""

from __future__ import annotations

from contextlib import closing
from http.client import HTTPConnection, HTTPException

_PATIENCE_S = 2.0
_LOOKED_AT_BYTES = 64 << 10
_METRICS = b"\n# TYPE lapwing_bridge_"


def is_bridge(host: str, port: int) -> bool:
    """Asks for its metrics. False too where nobody answers in time."""
    with closing(HTTPConnection(host, port, timeout=_PATIENCE_S)) as connection:
        try:
            connection.request("GET", "/metrics")
            return _METRICS in connection.getresponse().read(_LOOKED_AT_BYTES)
        except (OSError, HTTPException):
            return False
