"""What librdkafka does not say of a server: why its certificate is not accepted, and whether it speaks TLS."""

from __future__ import annotations

import socket
import ssl
from pathlib import Path

from lapwing.host_port import split_host_port

_ANSWER_S = 2.0


def problem_of_certificate(server: str, ca: str) -> str:
    """What is wrong with the certificate that a server shows, in OpenSSL's words.

    Args:
        server: ``HOST:PORT``; asked once, with nothing but the beginning of a TLS handshake, for four seconds at most.
        ca: File or folder of the authorities to trust, in PEM; empty, or ``probe``: this machine's.

    Returns: As ``self-signed certificate in certificate chain``, or ``IP address mismatch, ...``; empty where nothing
        is wrong with it, or it cannot be had.
    """
    try:
        host, port = split_host_port(server)
        context = _context(ca)
        with (
            socket.create_connection((host, port), _ANSWER_S) as plain,
            context.wrap_socket(plain, server_hostname=host),
        ):
            return ""
    except ssl.SSLCertVerificationError as error:
        return error.verify_message.rstrip(".")
    except (OSError, ValueError):
        # No TLS, nobody there, or a host that cannot be one: the certificate is not known.
        return ""


def speaks_tls(server: str) -> bool:
    """Whether there is TLS at ``HOST:PORT``, whatever its certificate; asked for four seconds at most."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    # Nothing is sent to it but the question.
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    try:
        host, port = split_host_port(server)
        with socket.create_connection((host, port), _ANSWER_S) as plain, context.wrap_socket(plain):
            return True
    except (OSError, ValueError):
        return False


def _context(ca: str) -> ssl.SSLContext:
    if not ca or ca == "probe":
        return ssl.create_default_context()
    is_folder = Path(ca).is_dir()
    return ssl.create_default_context(capath=ca) if is_folder else ssl.create_default_context(cafile=ca)
