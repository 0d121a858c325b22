"""One connection to a broker's HTTP side, plain or over TLS; the standard library alone."""

from __future__ import annotations

import http.client
import socket
import ssl
from functools import cache
from pathlib import Path
from typing import NamedTuple

from lapwing.errors import ConfigError
from lapwing.host_port import join_host_port
from lapwing.regular_file import CERTIFICATE_BYTES_MAX, open_file, read_once

_NO_TLS = frozenset(("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "PACKET_LENGTH_TOO_LONG", "UNKNOWN_PROTOCOL"))
"""What OpenSSL calls an answer that is no TLS."""
_NO_HTTP = (http.client.BadStatusLine,)
"""`RemoteDisconnected` is one: nothing came."""
_PROBE_S = 2.0
_OWN_CERTIFICATE = "give a client's certificate that the broker trusts (cert, key) if it asks for one, or see its log"


class TlsFiles(NamedTuple):
    """Files in PEM for a connection over TLS; each may be left out, and is an empty text then."""

    ca: str = ""
    """The authorities to trust; empty: those of this machine."""
    certificate: str = ""
    """The client's own certificate with its chain, where the broker asks for one."""
    key: str = ""
    """Its key, without a pass phrase; empty: it is in the certificate's file."""


NO_FILES = TlsFiles()


def open_connection(
    scheme: str, host: str, port: int, *, timeout_s: float, tls: TlsFiles = NO_FILES
) -> http.client.HTTPConnection:
    """A connection that opens with its first request.

    Args:
        scheme: ``http`` or ``https``.
        host: Name or IP address; over TLS the certificate must be its own.
        port: TCP port.
        timeout_s: For connecting and for each answer.
        tls: Whom to trust over TLS, and the client's own certificate.

    Raises:
        ConfigError: a file of ``tls`` cannot be used.
    """
    if scheme != "https":
        return http.client.HTTPConnection(host, port, timeout=timeout_s)
    return http.client.HTTPSConnection(host, port, timeout=timeout_s, context=_context(tls))


def _context(tls: TlsFiles) -> ssl.SSLContext:
    context = _trusting(tls.ca)
    if not tls.certificate:
        if tls.key:
            raise ConfigError("a key without a certificate", where=tls.key, remedy="give the certificate too")
        return context
    try:
        for file in (tls.certificate, tls.key):
            if file:
                open_file(Path(file)).close()  # OpenSSL would not say which it is
        # A pass phrase is asked for at no terminal: there is none, and the key is refused.
        context.load_cert_chain(tls.certificate, tls.key or None, password="")
    except (OSError, ssl.SSLError, ValueError) as error:
        raise _unusable(tls, error) from error
    return context


def _unusable(tls: TlsFiles, error: Exception) -> ConfigError:
    """What is wrong with a certificate or its key."""
    file = tls.key or tls.certificate
    if not isinstance(error, ssl.SSLError) and isinstance(error, OSError):
        remedy = "give a file with the client's certificate, or its key, in PEM"
        return ConfigError(f"it cannot be read: {error.strerror}", where=str(error.filename or file), remedy=remedy)
    if getattr(error, "reason", "") == "KEY_VALUES_MISMATCH":
        what = f"the key is not that of the certificate {tls.certificate}"
        return ConfigError(what, where=file, remedy="give those that belong together")
    what = "there is no private key that can be read in this file, or no certificate in the other"
    if not tls.key:
        what = "there is no certificate, or no private key that can be read, in this file"
    remedy = "give a certificate and its key (RSA, ECDSA or Ed25519) in PEM, without a pass phrase"
    return ConfigError(what, where=file, remedy=remedy)


def _trusting(ca: str) -> ssl.SSLContext:
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


def tls_reason(error: OSError) -> tuple[str, str] | None:
    """Why TLS failed for good and what to do; None for what may pass, such as a broker that has just gone."""
    if not isinstance(error, ssl.SSLError) or isinstance(error, ssl.SSLEOFError | ssl.SSLZeroReturnError):
        return None
    if isinstance(error, ssl.SSLCertVerificationError):
        what = f"the broker's certificate is not trusted: {error.verify_message}"
        return what, "give its authority (ca), and the name that its certificate has"
    reason = error.reason or str(error)
    if "ALERT" in reason:
        return f"the broker ended the handshake of TLS: {reason}", _OWN_CERTIFICATE
    return f"TLS failed: {reason}", "see the broker's log"


def wrong_port(scheme: str, host: str, port: int, error: Exception) -> tuple[str, str] | None:
    """What is wrong and what to do where ``error`` says that another protocol than ``scheme`` is spoken at a port.

    Where the peer has closed a plain connection without an answer, it is asked whether it speaks TLS: servers of that
    say nothing to an HTTP request. None: it may well be the right port.
    """
    there = join_host_port(host, port)
    if scheme == "https":
        if isinstance(error, ssl.SSLError) and error.reason in _NO_TLS:
            return "what answers at this port speaks no TLS", f"give http://{there}, or the port of HTTPS"
        if isinstance(error, ssl.SSLEOFError | ssl.SSLZeroReturnError | ConnectionResetError | BrokenPipeError):
            return _ended(host, port)
        return _closed("HTTP", "HTTPS") if isinstance(error, _NO_HTTP) else None
    if not isinstance(error, (*_NO_HTTP, ConnectionResetError)):
        return None
    if _speaks_tls(host, port):
        return "what answers at this port speaks TLS", f"give https://{there}, or the port of HTTP"
    return _closed("HTTP", "HTTP")


def _ended(host: str, port: int) -> tuple[str, str]:
    """Where a connection over TLS was ended, as that of a client is that should show a certificate and has not."""
    if not _speaks_tls(host, port):
        return _closed("a TLS handshake", "HTTPS")
    what = "what answers at this port speaks TLS, and ends the connection"
    return what, f"{_OWN_CERTIFICATE}; the port must be the one that it prints for HTTPS, MQTT has another"


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
