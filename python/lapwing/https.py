"""One connection to a broker's HTTP side, plain or over TLS; the standard library alone."""

from __future__ import annotations

import http.client
import socket
import ssl
from functools import cache
from pathlib import Path

from lapwing.errors import ConfigError
from lapwing.host_port import join_host_port
from lapwing.regular_file import CERTIFICATE_BYTES_MAX, open_file, read_once

_NO_TLS = frozenset(("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "PACKET_LENGTH_TOO_LONG", "UNKNOWN_PROTOCOL"))
"""What OpenSSL calls an answer that is no TLS."""
_NO_HTTP = (http.client.BadStatusLine,)
"""`RemoteDisconnected` is one: nothing came."""
_PROBE_S = 2.0


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
        if ca and Path(ca).is_fifo():
            return ssl.create_default_context(cadata=_out_of_pipe(ca))
        if ca:
            open_file(Path(ca)).close()  # OpenSSL would not say what else lies there
        return ssl.create_default_context(cafile=ca or None)
    except (OSError, ssl.SSLError) as error:
        reason = getattr(error, "reason", None) or error.strerror or str(error)
        remedy = "give a file with the certificates to trust, in PEM"
        raise ConfigError(f"the authorities cannot be used: {reason}", where=ca, remedy=remedy) from error


@cache
def _out_of_pipe(ca: str) -> str:
    """What a pipe held: nobody can read it again for the next connection."""
    return read_once(Path(ca), CERTIFICATE_BYTES_MAX).decode("ascii", "ignore")


def tls_reason(error: OSError) -> str:
    """Why TLS failed for good, in a few words; empty for what may pass, such as a broker that has just gone."""
    if isinstance(error, ssl.SSLEOFError | ssl.SSLZeroReturnError):
        return ""
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"the broker's certificate is not trusted: {error.verify_message}"
    if isinstance(error, ssl.SSLError):
        return f"TLS failed: {error.reason or error}"
    return ""


def wrong_port(scheme: str, host: str, port: int, error: Exception) -> tuple[str, str] | None:
    """What is wrong and what to do where ``error`` says that another protocol than ``scheme`` is spoken at a port.

    Where the peer has closed a plain connection without an answer, it is asked whether it speaks TLS: servers of that
    say nothing to an HTTP request. None: it may well be the right port.
    """
    there = join_host_port(host, port)
    if scheme == "https":
        if isinstance(error, ssl.SSLError) and error.reason in _NO_TLS:
            return "what answers at this port speaks no TLS", f"give http://{there}, or the port of HTTPS"
        if isinstance(error, ssl.SSLEOFError | ssl.SSLZeroReturnError | ConnectionResetError):
            return _closed("a TLS handshake", "HTTPS")
        return _closed("HTTP", "HTTPS") if isinstance(error, _NO_HTTP) else None
    if not isinstance(error, (*_NO_HTTP, ConnectionResetError)):
        return None
    if _speaks_tls(host, port):
        return "what answers at this port speaks TLS", f"give https://{there}, or the port of HTTP"
    return _closed("HTTP", "HTTP")


def _closed(asked: str, wanted: str) -> tuple[str, str]:
    remedy = f"give the port that the broker prints for {wanted}, MQTT has another; or see the broker's log"
    return f"what listens at this port does not answer {asked}", remedy


def _speaks_tls(host: str, port: int) -> bool:
    """Whoever it is: nothing is sent to it."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    try:
        with socket.create_connection((host, port), _PROBE_S) as plain, context.wrap_socket(plain):
            return True
    except ssl.SSLError as error:
        return "ALERT" in (error.reason or "")
    except OSError:
        return False
