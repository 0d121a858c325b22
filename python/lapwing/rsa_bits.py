"""How many bits RSA keys of certificates have: OpenSSL only says that one has too few, and of authorities nothing."""

from __future__ import annotations

import re
import ssl
from pathlib import Path

_BITS_MIN = 2048
"""Fewer are refused by TLS here and at most peers."""
_BYTES_MAX = 4 << 20
_PEM = re.compile(r"-----BEGIN CERTIFICATE-----.+?-----END CERTIFICATE-----", re.DOTALL)
_RSA = bytes.fromhex("2a864886f70d010101")
_INTEGER, _BIT_STRING, _OID, _SEQUENCE, _VERSION = 0x02, 0x03, 0x06, 0x30, 0xA0


def weak_key(pem: bytes) -> str:
    """What to say of the weakest key of certificates in ``pem`` if it has too few bits; empty: none is known to."""
    found = [bits for match in _PEM.finditer(pem.decode("latin-1")) if (bits := _bits(match.group())) is not None]
    bits = min(found, default=_BITS_MIN)
    return f"RSA of {bits} bits, and fewer than {_BITS_MIN} hold nobody off" if bits < _BITS_MIN else ""


def weak_key_in(file: Path) -> str:
    """The same of a file; empty also where it cannot be read: whoever uses it says so."""
    try:
        with file.open("rb") as opened:
            return weak_key(opened.read(_BYTES_MAX))
    except OSError:
        return ""


def _bits(pem: str) -> int | None:
    try:
        ((_, certificate),) = _parts(ssl.PEM_cert_to_DER_cert(pem))
        fields = [part for part in _parts(_parts(certificate)[0][1]) if part[0] != _VERSION]
        # Number, algorithm, issuer, validity, subject, then the key.
        algorithm, key = _parts(fields[5][1])
        if _parts(algorithm[1])[0] != (_OID, _RSA) or key[0] != _BIT_STRING:
            return None
        ((_, numbers),) = _parts(key[1][1:])
        kind, modulus = _parts(numbers)[0]
        return int.from_bytes(modulus).bit_length() if kind == _INTEGER else None
    except (ValueError, IndexError):
        return None


def _parts(der: bytes) -> list[tuple[int, bytes]]:
    """The values that lie one behind the other, with their tags.

    Raises:
        ValueError: it ends too soon.
    """
    found = []
    while der:
        if len(der) < 2:
            raise ValueError("cut off")
        size, head = der[1], 2
        if size & 0x80:
            head += size & 0x7F
            size = int.from_bytes(der[2:head])
        if head + size > len(der):
            raise ValueError("cut off")
        found.append((der[0], der[head : head + size]))
        der = der[head + size :]
    return found
