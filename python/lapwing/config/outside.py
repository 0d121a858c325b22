"""URLs that the broker asks others at: https, or http on this machine."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator

from lapwing.config.addresses import is_loopback
from lapwing.host_port import is_host


def parse_outside_url(text: str) -> str:
    """An ``https://`` or ``http://`` URL with a host, and without user, password and fragment.

    Raises:
        ValueError: something else.
    """
    try:
        url = urlsplit(text)
        port_is_one = url.port is None or url.port > 0
    except ValueError:
        port_is_one = False
    if (
        not port_is_one
        or url.scheme not in ("https", "http")
        or not url.hostname
        or not text.isprintable()
        or not is_host(url.hostname)
    ):
        raise ValueError('must be a URL, as in "https://issuer.example/jwks.json"')
    if url.username is not None or url.password is not None or "@" in url.netloc:
        raise ValueError("must have no user and password in it: others log URLs")
    if url.fragment or " " in text:
        raise ValueError("must have neither blanks nor a fragment in it")
    return text


def outside_problem(text: str, *, plain: bool, key: str) -> str:
    """Why it may not be asked; empty: it may. What is in the clear stays here, unless ``key`` says otherwise."""
    url = urlsplit(text)
    if url.scheme == "http" and not plain and not is_loopback(url.hostname or ""):
        return f"{url.scheme}://{url.hostname} is not encrypted: use https, or {key} = true if that is meant"
    return ""


OutsideUrl = Annotated[str, AfterValidator(parse_outside_url)]
