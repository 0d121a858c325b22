"""What a start says of a configuration that leaves something open, and what it says nothing of."""

from __future__ import annotations

from typing import Any

import pytest

from lapwing.config import Config
from lapwing.config.exposure import exposures

TLS = {"certificate": "c.pem", "key": "k.pem"}
CERTIFIED = {"client_ca": "ca.pem", "client_certificate": "required", "identity": "certificate-cn"}


def said(*listeners: dict[str, Any], **tables: Any) -> list[str]:
    return exposures(Config(listeners=list(listeners), **tables))  # type: ignore[arg-type]


USERS: dict[str, Any] = {"auth": {"users": "users.toml"}}
HOOKS: dict[str, Any] = {"hooks": {"use": "judges:Hooks"}}


def test_limits_that_no_machine_has_memory_for() -> None:
    """Is it told with what was set, what there is and what to set, and is a limit that fits not?"""
    (line,) = said(limits={"memory_high_bytes": "4096TiB"})
    assert line.startswith("limits.memory_high_bytes = 4096TiB is above the ")
    assert "the system ends the broker before it refuses anybody; set " in line
    assert said(limits={"memory_high_bytes": "16MiB"}) == []


@pytest.mark.parametrize(
    ("listener", "tables", "is_told"),
    [
        ({"url": "tcp://0.0.0.0:1883"}, USERS, True),
        ({"url": "ws://[::]:8083"}, USERS, True),
        ({"url": "tcp://broker.example:1883"}, HOOKS, True),
        ({"url": "tcp://127.0.0.1:1883"}, USERS, False),
        ({"url": "unix:///run/lapwing.sock"}, USERS, False),
        ({"url": "tls://0.0.0.0:8883", **TLS}, USERS, False),
        ({"url": "wss://0.0.0.0:8084", **TLS, **CERTIFIED}, USERS, False),
        ({"url": "tcp://0.0.0.0:1883", "anonymous": True}, {}, False),
    ],
)
def test_passwords_in_the_clear(listener: dict[str, Any], tables: dict[str, Any], is_told: bool) -> None:
    """Is it told exactly where somebody is asked for a password and others may hear it?"""
    told = said(listener, **tables)
    assert len(told) == is_told
    assert all("in the clear" in line and listener["url"] in line for line in told)


def test_the_short_form_of_a_listener_too() -> None:
    (line,) = said(broker={"listen": ["tcp://0.0.0.0:1883"]}, **USERS)
    assert "tcp://0.0.0.0:1883" in line


def test_several_listeners_are_one_notice() -> None:
    (line,) = said({"url": "tcp://0.0.0.0:1"}, {"url": "ws://0.0.0.0:2"}, **USERS)
    assert "tcp://0.0.0.0:1, ws://0.0.0.0:2" in line


@pytest.mark.parametrize(
    ("networks", "is_told"),
    [
        (["0.0.0.0/0"], True),
        (["::/0"], True),
        (["10.0.0.0/8", "::/0"], True),
        (["0.0.0.0/1", "128.0.0.0/1"], True),
        (["10.0.0.0/8", "192.168.0.0/16", "fd00::/8"], False),
        (["10.1.2.3"], False),
        ([], False),
    ],
)
def test_everybody_is_a_proxy(networks: list[str], is_told: bool) -> None:
    told = said({"url": "tcp://127.0.0.1:0", "proxy_protocol_from": networks})
    assert [("listeners.0.proxy_protocol_from" in line) for line in told] == [True] * is_told


def test_root_is_named_with_what_to_do() -> None:
    (line,) = exposures(Config(), is_root=True)
    assert "runs as root" in line
    assert "broker.user" in line
    assert exposures(Config()) == []
