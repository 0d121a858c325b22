"""What the files of HTTPS say, together: the server's certificate, and whose certificates clients may show."""

from __future__ import annotations

import math
import ssl
import time
from pathlib import Path
from typing import TYPE_CHECKING

from lapwing._core import certificate_times
from lapwing.errors import ConfigError
from lapwing.regular_file import CERTIFICATE_BYTES_MAX, kind_in
from lapwing.rsa_bits import weak_key_in

if TYPE_CHECKING:
    from lapwing.config import HttpSection

_LISTS = "write complete lists, as your authority publishes them, and nothing else into this file, in PEM"


class ServerContext(ssl.SSLContext):
    """OpenSSL's context.

    Attributes:
        lists_until_s: Revocation lists hold until then, in seconds since 1970; nobody can say what is revoked since.
    """

    lists_until_s: float = math.inf


def server_context(settings: HttpSection) -> ServerContext:
    """What the section's files say.

    Raises:
        ConfigError: one cannot be read, is no PEM, is over, or does not belong to the others.
    """
    context = ServerContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])
    certificate, key = settings.certificate, settings.key
    if certificate is None:
        raise ConfigError("TLS without a certificate", where="http.certificate", remedy="give certificate and key")
    named = [("certificate", certificate), ("key", key), ("client_ca", settings.client_ca)]
    for setting, file in (*named, *(("crl", file) for file in settings.crl)):
        _check_size(f"http.{setting}", file)
    try:
        # A password, so that an encrypted key is an error and not a question at a terminal nobody watches.
        context.load_cert_chain(certificate, key or certificate, password="")
    except (OSError, ValueError) as error:
        if "KEY_TOO_SMALL" in str(error) and (weak := weak_key_in(certificate)):
            remedy = "make an ECDSA P-256 key, or RSA of 2048 bits or more, and a certificate for it"
            raise ConfigError(f"http.certificate: its key is {weak}", where=str(certificate), remedy=remedy) from error
        raise _unusable("http.certificate", certificate, error) from error
    if settings.client_ca is not None:
        try:
            context.load_verify_locations(settings.client_ca)
        except (OSError, ValueError) as error:
            raise _unusable("http.client_ca", settings.client_ca, error) from error
        context.verify_mode = ssl.CERT_REQUIRED
        for file in settings.crl:
            _add_lists(context, file)
    return context


def _add_lists(context: ServerContext, file: Path) -> None:
    """Each certificate of a chain needs the list of its authority then, as at listeners of MQTT.

    OpenSSL trusts every certificate that it finds beside a list.
    """
    trusted = context.cert_store_stats()["x509"]
    try:
        found = certificate_times(file.read_bytes())
        context.load_verify_locations(file)
    except (OSError, ValueError) as error:
        raise _unusable("http.crl", file, error, _LISTS) from error
    ends_s = [math.inf if until_s is None else until_s for is_list, _, until_s in found if is_list]
    if not ends_s or len(ends_s) < len(found) or context.cert_store_stats()["x509"] > trusted:
        raise ConfigError("http.crl has no list, or not lists only", where=str(file), remedy=_LISTS)
    if min(ends_s) <= time.time():
        what = "http.crl has a list that was to be replaced by now: nobody can say what was revoked since"
        raise ConfigError(what, where=str(file), remedy="write the newest list of your authority")
    context.verify_flags |= ssl.VerifyFlags.VERIFY_CRL_CHECK_CHAIN
    context.lists_until_s = min(context.lists_until_s, *ends_s)


def _check_size(setting: str, file: Path | None) -> None:
    """OpenSSL reads a file to its end, a gigabyte of nothing too, and nobody hears a signal meanwhile."""
    if file is None:
        return
    try:
        found = file.stat()
    except OSError:
        return  # whoever opens it says why it cannot be
    if kind := kind_in(found.st_mode):
        raise ConfigError(f"{setting} is {kind}", where=str(file), remedy="name a file: it is read again at a reload")
    if found.st_size > CERTIFICATE_BYTES_MAX:
        raise ConfigError(
            f"{setting} has {found.st_size} bytes, and {CERTIFICATE_BYTES_MAX} is the most",
            where=str(file),
            remedy="name a file of certificates",
        )


_KEYS = "give certificate and key in PEM, the key not encrypted, each the other's"


def _unusable(setting: str, file: Path, error: Exception, remedy: str = _KEYS) -> ConfigError:
    reason = getattr(error, "reason", None) or getattr(error, "strerror", None) or str(error)
    return ConfigError(f"{setting} cannot be used: {reason}", where=str(file), remedy=remedy)
