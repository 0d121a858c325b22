"""One connection to a broker's HTTP side, plain or over TLS; the standard library alone."""

from __future__ import annotations

import http.client
import ssl

from lapwing.errors import ConfigError


def open_connection(scheme: str, host: str, port: int, *, timeout_s: float, ca: str = "") -> http.client.HTTPConnection:
    """A connection that opens with its first request.

    Args:
        scheme: ``http`` or ``https``.
        host: Name or IP address; over TLS the certificate must be its own.
        port: TCP port.
        timeout_s: For connecting and for each answer.
        ca: File of the authorities to trust over TLS, in PEM; empty: those of this machine.

    Raises:
        ConfigError: ``ca`` cannot be used.
    """
    if scheme != "https":
        return http.client.HTTPConnection(host, port, timeout=timeout_s)
    return http.client.HTTPSConnection(host, port, timeout=timeout_s, context=_context(ca))


def _context(ca: str) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=ca or None)
    except (OSError, ssl.SSLError) as error:
        reason = getattr(error, "reason", None) or error.strerror or str(error)
        remedy = "give a file with the certificates to trust, in PEM"
        raise ConfigError(f"the authorities cannot be used: {reason}", where=ca, remedy=remedy) from error


def tls_reason(error: OSError) -> str:
    """Why TLS failed for good, in a few words; empty for what may pass, such as a broker that has just gone."""
    if isinstance(error, ssl.SSLEOFError | ssl.SSLZeroReturnError):
        return ""
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"the broker's certificate is not trusted: {error.verify_message}"
    if isinstance(error, ssl.SSLError):
        return f"TLS failed: {error.reason or error}"
    return ""
