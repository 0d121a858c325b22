"""RSA keys of certificates that are too short, in files: OpenSSL only says that one is, and of authorities nothing."""

from __future__ import annotations

from pathlib import Path

from lapwing._core import weak_rsa_key
from lapwing.regular_file import CERTIFICATE_BYTES_MAX, open_file


def weak_key_in(file: Path) -> str | None:
    """What to say of the shortest key in a file; None: it is long enough, or its user says why it cannot read it."""
    try:
        with open_file(file) as opened:
            return weak_rsa_key(opened.read(CERTIFICATE_BYTES_MAX))
    except OSError:
        return None
