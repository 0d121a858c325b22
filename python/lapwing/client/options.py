"""How consumers, publishers and requesters connect: the arguments that they have in common."""

from __future__ import annotations

import json
import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import TypedDict

from lapwing import _core
from lapwing.client.failures import core_failures
from lapwing.client.version import version_of
from lapwing.client_url import check_tls_files, without_user
from lapwing.errors import ConfigError, TimedOutError

POLL_S = 0.25
"""Longest wait inside Rust at a time: Ctrl-C is heard in between."""


_WINDOWS = {5: 1024, 4: 20}
"""A broker of 3.1.1 cannot say how many it takes at a time; Mosquitto takes 20, and forgets QoS 2 beyond them."""


class ConnectOptions(TypedDict, total=False):
    """Keyword arguments of everything here that connects.

    Attributes:
        client_id: By default one is made up: ``lapwing-`` and twelve hexadecimal digits.
        version: 5 (MQTT 5.0, the default) or 4 (3.1.1, the default over ``sn://``, which carries no more).
        session_expiry_s: How long the session outlives the connection, in seconds (5.0). Given: it stays after
            ``close``, and a consumer takes up what a session of this ``client_id`` holds; publishers and requesters
            begin anew with ``connect``. By default it lasts as long as reconnecting may take, and ends with ``close``.
        keep_alive_s: Ping after so much silence, in seconds (60); 0: never.
        receive_maximum: Messages of QoS 1 and 2 not yet acknowledged, at most (5.0).
        username: User name, if any.
        password: Password, if any.
        ca: File with the authorities to trust over TLS, in PEM; none: those of this machine. This and the next two
            go with ``tls://`` and ``wss://`` only.
        certificate: File with this client's own certificate and its chain, in PEM.
        key: File with its key; none: it is in the certificate's.
        timeout_s: For connecting, and for every call that waits and is not given its own, in seconds (10).
        back_off_s: The first and the longest pause before connecting again, in seconds (0.1, 10).
    """

    client_id: str
    version: int
    session_expiry_s: int | None
    keep_alive_s: int
    receive_maximum: int
    username: str | None
    password: str | bytes | None
    ca: str | Path | None
    certificate: str | Path | None
    key: str | Path | None
    timeout_s: float
    back_off_s: tuple[float, float]


class LinkPlan:
    """Everything that a link is made of; a user of it changes what is its own before `start`."""

    def __init__(self, url: str, options: ConnectOptions, *, session_expiry_s: int) -> None:
        unknown = set(options) - set(ConnectOptions.__annotations__)
        if unknown:
            raise TypeError(f"unknown arguments: {', '.join(sorted(unknown))}")
        files = {name: options.get(name) for name in ("ca", "certificate", "key")}
        check_tls_files(url, files)
        password = options.get("password")
        expiry_s = options.get("session_expiry_s")
        self.url = without_user(url)
        """As errors show it."""
        self.timeout_s = options.get("timeout_s", 10.0)
        self.client_id = options.get("client_id") or f"lapwing-{secrets.token_hex(6)}"
        self.version = version_of(url, options.get("version"))
        self.settings: _core._LinkSettings = {
            "url": url,
            "client_id": self.client_id,
            "version": self.version,
            "clean_start": expiry_s is None,
            "session_expiry_s": session_expiry_s if expiry_s is None else expiry_s,
            "ends_session": expiry_s is None,
            "keep_alive_s": number("keep_alive_s", options.get("keep_alive_s", 60), 0, 65_535),
            "receive_maximum": number("receive_maximum", options.get("receive_maximum", 128), 1, 65_535),
            "username": options.get("username"),
            "password": password.encode() if isinstance(password, str) else password,
            "ca": options.get("ca"),
            "certificate": options.get("certificate"),
            "key": options.get("key"),
            "user_properties": [],
            "filters": [],
            "qos": 0,
            "on_receipt": False,
            "high": 1000,
            "low": 500,
            "high_bytes": 64 << 20,
            "window": _WINDOWS.get(self.version, 20),
            "buffer_messages": 10_000,
            "buffer_bytes": 64 << 20,
            "report_every": None,
            "declaration": None,
            "connect_timeout_s": self.timeout_s,
            "back_off_s": options.get("back_off_s", (0.1, 10.0)),
        }

    def declare(self, **what: str | int | None) -> None:
        """Says what this consumer is: in CONNECT, or over 3.1.1 by a report."""
        said = {name: value for name, value in what.items() if value is not None}
        if self.version == 5:
            self.settings["user_properties"] = [
                (f"lapwing-{name.removesuffix('_ms')}", str(value)) for name, value in said.items()
            ]
        else:
            self.settings["declaration"] = json.dumps(said)

    def begin_anew(self) -> None:
        """Has the first connection end what session there is (Clean Start); later ones of the link go on with its own.

        A session of an earlier process has its packet ids of QoS 2 that were not released. Nobody here knows them, so
        new messages would get them; the broker would take those for repeats, acknowledge them, and drop them.
        """
        self.settings["clean_start"] = True

    def start(self) -> _core.Link:
        """Begins to connect."""
        with core_failures(self.url):
            return _core.Link(self.settings)

    def start_and_wait(self) -> _core.Link:
        """Connects.

        Raises:
            ConnectError: nobody answers there, or the broker refused the connection or the subscription.
            TimedOutError: it did not answer in time.
        """
        link = self.start()
        try:
            with core_failures(self.url):
                # A second more than the attempt itself has: its error says more than ours.
                left_s = self.timeout_s + 1.0
                while not link.wait_up(min(POLL_S, left_s)):
                    left_s -= POLL_S
                    if left_s <= 0:
                        raise self.too_late()
        except BaseException:
            link.abort()
            raise
        return link

    def too_late(self) -> TimedOutError:
        """The error for a connection that did not come about in time."""
        what = f"no connection within {self.timeout_s:g} s"
        return TimedOutError(what, where=self.url, remedy="wait longer, or look at the broker")


def number(name: str, value: int, least: int, most: int) -> int:
    """``value``, if it is in range."""
    if not least <= value <= most:
        raise ConfigError(f"{name} = {value}", remedy=f"give {least} to {most}")
    return value


def one_of(name: str, value: str, known: Sequence[str]) -> str:
    """``value``, if it is known."""
    if value not in known:
        raise ConfigError(f"{name} = {value!r}", remedy=f"give one of {', '.join(known)}")
    return value
