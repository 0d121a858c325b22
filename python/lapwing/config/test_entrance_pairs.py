"""Is a limit of who comes in, and of how it is found out who that is, refused where another contradicts it?"""

from __future__ import annotations

from pathlib import Path

import pytest

from lapwing.config.test_memory_pairs import refused_and_taken

JWKS = '[auth.jwt]\nalgorithms = ["RS256"]\njwks_url = "https://h/keys"\n'
ASKED = '[auth.http]\nurl = "https://h/ask"\n'
NOT_MORE = [
    # a table; a limit of some, and the one of all that it is held against
    ("limits", "password_checks_max", "strangers_max"),
    ("limits", "strangers_max", "connections_max"),
    ("limits", "handshakes_per_address_max", "handshakes_max"),
    ("limits", "http_checks_per_address_max", "http_checks_max"),
    ("auth", "failures_name_max", "failures_max"),
    ("http", "reads_max", "connections_max"),
    ("http", "reads_per_identity_max", "reads_max"),
]
CASES = [
    # what is judged; the configuration with %s in its place; a value that is wrong, and the last that is in order; what
    # it is held against
    *(
        (f"{table}.{some}", f"[{table}]\n{most} = 10\n{some} = %s", "11", "10", f"{most} = 10")
        for table, some, most in NOT_MORE
    ),
    (
        "auth.failures_delayed_max",
        "[limits]\nstrangers_max = 10\n[auth]\nfailures_delayed_max = %s",
        "11",
        "10",
        "limits.strangers_max = 10",
    ),
    ("limits.connect_bytes_max", "[limits]\nconnect_bytes_max = %s", '"2MiB"', '"1MiB"', "packet_bytes_max = 1MiB"),
    (
        "auth.jwt.token_bytes_max",
        '[limits]\nconnect_bytes_max = "1KiB"\n[auth.jwt]\nalgorithms = ["HS256"]\nsecret_file = "s"\n'
        "token_bytes_max = %s",
        '"1009B"',
        '"1008B"',
        "connect_bytes_max = 1KiB",
    ),
    ("auth.jwt.jwks_stale_max", f"{JWKS}jwks_stale_max = %s", '"9m"', '"10m"', "jwks_refresh = 10m"),
    ("auth.jwt.jwks_refresh", f"{JWKS}jwks_refresh = %s", '"29s"', '"30s"', "jwks_retry = 30s"),
    (
        "hooks.timeout",
        '[limits]\nconnect_timeout = "3s"\n[hooks]\nuse = "some.module:Hooks"\ntimeout = %s',
        '"4s"',
        '"3s"',
        "limits.connect_timeout = 3s",
    ),
    (
        "auth.http.timeout",
        f'[limits]\nconnect_timeout = "1s"\n{ASKED}timeout = %s',
        '"2s"',
        '"1s"',
        "limits.connect_timeout = 1s",
    ),
    ("auth.http.ttl", f'{ASKED}ttl_max = "10m"\nttl = %s', '"11m"', '"10m"', "ttl_max = 10m"),
    ("auth.http.refused_ttl", f'{ASKED}ttl_max = "10m"\nrefused_ttl = %s', '"11m"', '"10m"', "ttl_max = 10m"),
    (
        "limits.connect_bytes_max",
        '[limits]\nclient_id_bytes_max = "1000B"\nconnect_bytes_max = %s',
        '"1015B"',
        '"1016B"',
        "client_id_bytes_max = 1000",
    ),
    (
        "limits.strangers_per_address_max",
        "[limits]\nstrangers_max = 100\nstrangers_per_address_max = %s",
        "76",
        "75",
        "three quarters of limits.strangers_max = 100",
    ),
    (
        "limits.strangers_bytes_max",
        "[limits]\nstrangers_bytes_max = %s",
        '"63KiB"',
        '"64KiB"',
        "connect_bytes_max = 64KiB",
    ),
    (
        "limits.handshakes_max",
        "[limits]\nconnections_max = 10\nhandshakes_max = %s",
        "4",
        "3",
        "a quarter of limits.connections_max = 10",
    ),
    (
        "listeners[0].connections_max",
        '[limits]\nconnections_max = 10\n[[listeners]]\nurl = "tcp://127.0.0.1:1"\nconnections_max = %s',
        "11",
        "10",
        "limits.connections_max = 10",
    ),
]


@pytest.mark.parametrize(("key", "text", "wrong", "right", "against"), CASES)
def test_a_pair(tmp_path: Path, key: str, text: str, wrong: str, right: str, against: str) -> None:
    refused_and_taken(tmp_path, key, text, wrong, right, against)
