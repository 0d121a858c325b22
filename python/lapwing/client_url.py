"""The URL of a broker, as somebody has given it: what of it may be shown, and whether files for TLS go with it."""

from __future__ import annotations

from collections.abc import Mapping

from lapwing.errors import ConfigError

_WITH_TLS = {"tcp": "tls", "mqtt": "mqtts", "ws": "wss", "sn": "tls", "mqtt-sn": "tls", "http": "https"}
"""Schemes of this client without TLS, and those to write in their place."""


def without_user(url: str) -> str:
    """``url`` as errors, logs and screens show it: what stands before the last ``@`` may be a password.

    No broker takes it there, so a URL that has one is refused; the error is the first to show it.
    """
    user, at, host = url.rpartition("@")
    if not at:
        return url
    scheme, marks, _ = user.partition("://")
    return f"{scheme}://***@{host}" if marks else f"***@{host}"


def is_plain(url: str) -> bool:
    """Whether what is sent there is not encrypted; a URL without a scheme is ``tcp://``."""
    return _scheme(url) in _WITH_TLS


def check_tls_files(url: str, files: Mapping[str, object]) -> None:
    """Whether what is to be encrypted will be: who names an authority or a certificate counts on it.

    Args:
        url: Where to.
        files: What each is called where it was given, and its name; empty or ``None``: not given.

    Raises:
        ConfigError: one is given, and ``url`` has no TLS; says which scheme has.
    """
    given = ", ".join(name for name, file in files.items() if file)
    if not given or not is_plain(url):
        return
    scheme = _scheme(url)
    said = f"{scheme}:// has none" if "://" in url else f"a URL without a scheme is {scheme}://"
    verb = "are" if "," in given else "is"
    remedy = f"write {_WITH_TLS[scheme]}://, with the port that it has, or leave {given} out"
    raise ConfigError(f"{given} {verb} for TLS, and {said}", where=without_user(url), remedy=remedy)


def _scheme(url: str) -> str:
    return url.partition("://")[0] if "://" in url else "tcp"
