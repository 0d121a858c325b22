"""Is every address listened at that a name stands for, at one port, and none left behind when one cannot be had?"""

from __future__ import annotations

import socket

import pytest

from lapwing import listening
from lapwing.listening import addresses_of, bind_every, close_all, shown_address


def test_localhost_is_both_addresses_of_loopback() -> None:
    for name in ("localhost", "LOCALHOST."):
        hosts = [address.target[0] for address in addresses_of(name, 7)]
        assert sorted(set(hosts)) == ["127.0.0.1", "::1"], name
        assert len(hosts) == len(set(hosts))
    assert [address.target for address in addresses_of("127.0.0.1", 7)] == [("127.0.0.1", 7)]


def test_every_address_has_the_same_port() -> None:
    bound = bind_every("localhost:0")
    try:
        ports = {one.getsockname()[1] for one in bound}
        hosts = [one.getsockname()[0] for one in bound]
        assert len(ports) == 1
        assert 0 not in ports
        if socket.has_ipv6 and "::1" in hosts:
            assert shown_address("localhost:0", bound) == f"localhost:{ports.pop()}"
    finally:
        close_all(bound)


def test_one_address_is_shown_as_it_is() -> None:
    bound = bind_every("127.0.0.1:0")
    try:
        assert shown_address("127.0.0.1:0", bound) == f"127.0.0.1:{bound[0].getsockname()[1]}"
    finally:
        close_all(bound)


def test_an_address_that_this_machine_lacks_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    here, nowhere = (listening.Address(socket.AF_INET, (host, 0)) for host in ("127.0.0.1", "203.0.113.7"))
    monkeypatch.setattr(listening, "addresses_of", lambda host, port: [nowhere, here])
    (bound,) = bind_every("name:0")
    assert bound.getsockname()[0] == "127.0.0.1"
    bound.close()
    monkeypatch.setattr(listening, "addresses_of", lambda host, port: [nowhere])
    with pytest.raises(OSError, match="assign"):
        bind_every("name:0")


def test_a_port_that_is_taken_at_one_of_them_is_not_had_at_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.2", 0)) as taken:
        port = taken.getsockname()[1]
        two = [listening.Address(socket.AF_INET, (host, port)) for host in ("127.0.0.1", "127.0.0.2")]
        monkeypatch.setattr(listening, "addresses_of", lambda host, port: two)
        with pytest.raises(OSError, match="in use"):
            bind_every(f"name:{port}")
        socket.create_server(("127.0.0.1", port)).close()  # it was given back


def test_another_free_port_is_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """The system's choice for the first address may be taken at the second one."""
    with socket.create_server(("127.0.0.2", 0)) as taken:
        tries = iter([taken.getsockname()[1], 0])
        monkeypatch.setattr(
            listening,
            "_bind_each",
            lambda addresses, prepare, real=listening._bind_each: real(
                [listening.Address(socket.AF_INET, ("127.0.0.2", next(tries)))], prepare
            ),
        )
        (bound,) = bind_every("localhost:0")
        assert bound.getsockname()[1] != taken.getsockname()[1]
        bound.close()
