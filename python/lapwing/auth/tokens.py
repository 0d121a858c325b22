"""Tokens: 256 random bits as text. The users file keeps SHA-256, which is enough: nobody can try all of them."""

from __future__ import annotations

import hashlib
import secrets

_PREFIX = "lapwing_"
_RANDOM_BYTES = 32


def new_token() -> tuple[str, str]:
    """A new token, to be shown once, and what the users file keeps of it."""
    token = _PREFIX + secrets.token_urlsafe(_RANDOM_BYTES)
    return token, hashlib.sha256(token.encode()).hexdigest()
