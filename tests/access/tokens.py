"""Keys and tokens (JWT) as issuers make them, by another library than the broker's."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time
from collections.abc import Callable
from typing import Any

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa, utils

Sign = Callable[[bytes], bytes]


def part(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def number(value: int, length: int | None = None) -> str:
    return part(value.to_bytes(length or (value.bit_length() + 7) // 8, "big"))


def token(header: dict[str, Any], sign: Sign, **claims: Any) -> str:
    """For alice and an hour; claims that are None are left out."""
    all_claims = {"sub": "alice", "exp": int(time.time()) + 3600, **claims}
    kept = {name: value for name, value in all_claims.items() if value is not None}
    signed = ".".join(part(json.dumps(table).encode()) for table in (header, kept))
    return f"{signed}.{part(sign(signed.encode()))}"


def hs256(secret: bytes) -> Sign:
    return lambda message: hmac.new(secret, message, hashlib.sha256).digest()


class Rsa:
    """A key of RSA 2048."""

    def __init__(self, bits: int = 2048) -> None:
        self._key = rsa.generate_private_key(65537, bits)
        self.pem = pem(self._key)

    def jwk(self, **more: str) -> dict[str, str]:
        numbers = self._key.public_key().public_numbers()
        return {"kty": "RSA", "n": number(numbers.n), "e": number(numbers.e), **more}

    def rs256(self, message: bytes) -> bytes:
        return self._key.sign(message, padding.PKCS1v15(), hashes.SHA256())

    def ps384(self, message: bytes) -> bytes:
        salted = padding.PSS(padding.MGF1(hashes.SHA384()), padding.PSS.DIGEST_LENGTH)
        return self._key.sign(message, salted, hashes.SHA384())


class Curve:
    """A key of P-256 or P-384."""

    def __init__(self, curve: ec.EllipticCurve) -> None:
        self._key = ec.generate_private_key(curve)
        self._hash = hashes.SHA256() if curve.key_size == 256 else hashes.SHA384()
        self._bytes = curve.key_size // 8
        self.pem = pem(self._key)

    def sign(self, message: bytes) -> bytes:
        r, s = utils.decode_dss_signature(self._key.sign(message, ec.ECDSA(self._hash)))
        return b"".join(value.to_bytes(self._bytes, "big") for value in (r, s))


class Edwards:
    """A key of Ed25519."""

    def __init__(self) -> None:
        self._key = ed25519.Ed25519PrivateKey.generate()
        self.pem = pem(self._key)

    def sign(self, message: bytes) -> bytes:
        return self._key.sign(message)


def pem(key: Any) -> bytes:
    found: bytes = key.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    return found
