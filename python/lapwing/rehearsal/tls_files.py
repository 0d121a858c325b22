"""Files of TLS: whether they are there, are what they are named for, belong together, and hold somebody off."""

from __future__ import annotations

import ssl
from base64 import b64decode
from binascii import Error as Base64Error
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from lapwing.errors import ConfigError, LapwingError

if TYPE_CHECKING:
    from lapwing.config import ListenerConfig

RSA_BITS_MIN = 2048
_RSA = bytes((0x06, 9, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 1, 1))
_REMEDY = "give PEM files that the broker may read: certificate and key, the key not encrypted, each the other's"


def tls_faults(key: str, listener: ListenerConfig) -> Iterator[LapwingError]:
    """What is wrong with the files of one listener, by their keys."""
    named = [("certificate", listener.certificate), ("key", listener.key), ("client_ca", listener.client_ca)]
    named += [("crl", file) for file in listener.crl]
    readable = True
    for name, file in named:
        if file is not None and (why := _unreadable(file)):
            readable = False
            yield ConfigError(f"{key}.{name} cannot be read: {why}", where=str(file), remedy=_REMEDY)
    if not readable or listener.certificate is None:
        return
    key_file = listener.key or listener.certificate
    bits = weak_rsa_bits(key_file.read_bytes())
    if bits is not None:
        what = f"{key}.key is RSA of {bits} bits, and fewer than {RSA_BITS_MIN} hold nobody off"
        remedy = "make an ECDSA P-256 key, or RSA of 2048 bits or more, and a certificate for it"
        yield ConfigError(what, where=str(key_file), remedy=remedy)
        return
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        # A password, so that an encrypted key is an error and not a question at a terminal.
        context.load_cert_chain(listener.certificate, key_file, password="")
    except (OSError, ValueError) as error:
        yield ConfigError(f"{key}.certificate cannot be used: {_why(error)}", where=str(key_file), remedy=_REMEDY)
    for name, file in named[2:]:
        try:
            if file is not None:
                context.load_verify_locations(file)
        except (OSError, ValueError) as error:
            yield ConfigError(f"{key}.{name} cannot be used: {_why(error)}", where=str(file), remedy=_REMEDY)


def _unreadable(file: Path) -> str:
    try:
        file.read_bytes()
    except OSError as error:
        return error.strerror or str(error)
    return ""


def _why(error: Exception) -> str:
    return str(getattr(error, "reason", None) or getattr(error, "strerror", None) or error)


def weak_rsa_bits(pem: bytes) -> int | None:
    """The bits of the first private key, if it is RSA of too few; None: it is not, or no key can be read."""
    for kind in (b"PRIVATE KEY", b"RSA PRIVATE KEY"):
        _, begin, rest = pem.partition(b"-----BEGIN " + kind + b"-----")
        if not begin:
            continue
        try:
            der = b64decode(rest.partition(b"-----END")[0])
            bits = _modulus(der if kind.startswith(b"RSA") else _inner(der)).bit_length()
        except (Base64Error, IndexError, ValueError):
            return None
        return bits if 0 < bits < RSA_BITS_MIN else None
    return None


def _inner(der: bytes) -> bytes:
    """The key of PKCS#1 in one of PKCS#8: behind version and algorithm, in an octet string."""
    fields, _ = _value(der, 0x30)
    _, rest = _value(fields, 0x02)
    algorithm, rest = _value(rest, 0x30)
    if not algorithm.startswith(_RSA):
        raise ValueError("no RSA key")
    return _value(rest, 0x04)[0]


def _modulus(der: bytes) -> int:
    """The modulus of a key of PKCS#1, which stands behind its version."""
    fields, _ = _value(der, 0x30)
    _, rest = _value(fields, 0x02)
    return int.from_bytes(_value(rest, 0x02)[0], "big")


def _value(der: bytes, tag: int) -> tuple[bytes, bytes]:
    """The first value of ``der``, which has this tag, and what stands behind it."""
    if der[0] != tag:
        raise ValueError("another value")
    length, at = der[1], 2
    if length >= 0x80:
        at += length - 0x80
        length = int.from_bytes(der[2:at], "big")
    if at + length > len(der):
        raise ValueError("cut")
    return der[at : at + length], der[at + length :]
