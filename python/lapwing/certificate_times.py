"""Certificates that are not good yet, not any more, or not for long: a line each, for the start and while it runs.

None is a reason not to start: a renewed file counts from the next SIGHUP on. Revocation lists that are over are one,
and the node says so itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from lapwing._core import certificate_times, weak_rsa_key
from lapwing.regular_file import CERTIFICATE_BYTES_MAX, open_file

if TYPE_CHECKING:
    from lapwing.config import Config

_DAY_S = 86_400
_AHEAD_S = {"certificate": 30 * _DAY_S, "revocation list": _DAY_S}
"""How long before their end it is told: lists are made anew each week or each day."""


def certificate_notices(config: Config, now_s: float, *, with_lists: bool = False) -> list[str]:
    """What there is to tell of the configuration's files; one that cannot be read is left to whoever uses it.

    Args:
        config: The whole configuration.
        now_s: Seconds since 1970, UTC.
        with_lists: Revocation lists of listeners, too; of a node that runs they are told by itself.
    """
    files: dict[Path, str] = {}
    for key, file in _files(config, with_lists=with_lists):
        files.setdefault(file, key)
    return [f"{file} ({key}): {what}" for file, key in files.items() for what in _of_file(file, key, now_s)]


def _files(config: Config, *, with_lists: bool) -> Iterator[tuple[str, Path]]:
    for number, listener in enumerate(config.listeners):
        tables = {"certificate": listener.certificate, "client_ca": listener.client_ca}
        yield from ((f"listeners.{number}.{key}", file) for key, file in tables.items() if file is not None)
        yield from ((f"listeners.{number}.crl", file) for file in listener.crl if with_lists)
    others = {
        "http.certificate": config.http.certificate,
        "http.client_ca": config.http.client_ca,
        "auth.jwt.jwks_ca": config.auth.jwt.jwks_ca,
        "auth.http.ca": config.auth.http.ca,
    }
    yield from ((key, file) for key, file in others.items() if file is not None)
    yield from (("http.crl", file) for file in config.http.crl)


def _of_file(file: Path, key: str, now_s: float) -> list[str]:
    try:
        with open_file(file) as opened:
            pem = opened.read(CERTIFICATE_BYTES_MAX)
    except OSError:
        return []
    return _of_times(pem, now_s) + ([] if key.endswith("certificate") else _of_authorities(pem))


def _of_authorities(pem: bytes) -> list[str]:
    """Keys of authorities that nothing which they sign is believed by; those of the broker's own are refused."""
    weak = weak_rsa_key(pem)
    return [f"the key of an authority is {weak}: whoever it vouches for is refused"] if weak else []


def _of_times(pem: bytes, now_s: float) -> list[str]:
    found = certificate_times(pem)
    which = [f"of {len(found)}, number {number} " if len(found) > 1 else "" for number in range(1, len(found) + 1)]
    told = zip(which, (verdict(*times, now_s) for times in found), strict=True)
    return [where + what for where, what in told if what]


def verdict(is_list: bool, from_s: int, until_s: int | None, now_s: float) -> str:
    """What to tell of one of them; empty: nothing.

    Args:
        is_list: A revocation list, and not a certificate.
        from_s: It holds from here on, in seconds since 1970, UTC.
        until_s: And to here; None: without end.
        now_s: The time.
    """
    noun = "revocation list" if is_list else "certificate"
    if from_s > now_s:
        return f"the {noun} is not good before {_date(from_s)}: is the clock of this machine right?"
    if until_s is None or until_s - now_s >= _AHEAD_S[noun]:
        return ""
    if until_s <= now_s:
        return (
            f"the {noun} has expired on {_date(until_s)}, and whoever looks at it refuses it: renew it, and send SIGHUP"
        )
    days = int((until_s - now_s) // _DAY_S)
    soon = "within a day" if days < 1 else f"in {days} day{'s' if days > 1 else ''}"
    return f"the {noun} expires on {_date(until_s)}, {soon}: renew it, and send SIGHUP"


def _date(at_s: int) -> str:
    try:
        return f"{datetime.fromtimestamp(at_s, UTC):%Y-%m-%d}"
    except (OverflowError, ValueError):
        return "a day beyond the calendar"
