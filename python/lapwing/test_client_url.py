"""Does a URL that somebody gave show no password, and is nothing sent in clear that was to be encrypted?"""

from __future__ import annotations

import pytest

from lapwing.client_url import check_tls_files, without_user
from lapwing.errors import ConfigError


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("tcp://h:1", "tcp://h:1"),
        ("tls://me:horse@h:1", "tls://***@h:1"),
        ("me:horse@h:1", "***@h:1"),
        ("tcp://me:ho@rse@h", "tcp://***@h"),
        ("tcp://me:ho/rse@h", "tcp://***@h"),
        ("", ""),
    ],
)
def test_what_may_be_a_password_is_not_shown(url: str, shown: str) -> None:
    assert without_user(url) == shown


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("tcp://h", r"ca, key are for TLS, and tcp:// has none \(tcp://h\): write tls://"),
        ("h:1", r"a URL without a scheme is tcp:// \(h:1\): write tls://"),
        ("mqtt://h", "write mqtts://"),
        ("ws://h", "write wss://"),
        ("sn://h", "write tls://"),
        ("http://h", "write https://"),
        ("tcp://me:horse@h", r"\(tcp://\*\*\*@h\)"),
    ],
)
def test_files_for_tls_are_refused_where_there_is_none(url: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        check_tls_files(url, {"ca": "ca.pem", "certificate": None, "key": "k"})
    check_tls_files(url, {"ca": None, "certificate": ""})


@pytest.mark.parametrize("url", ["tls://h", "mqtts://h", "ssl://h", "wss://h", "https://h", "quic://h"])
def test_files_go_with_tls(url: str) -> None:
    check_tls_files(url, {"ca": "ca.pem"})
