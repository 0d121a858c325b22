"""``HOST:PORT``: what is taken apart, and what is none."""

import pytest

from lapwing.host_port import join_host_port, split_host_port


@pytest.mark.parametrize(
    ("address", "host", "port"),
    [
        ("127.0.0.1:0", "127.0.0.1", 0),
        ("[::1]:1883", "::1", 1883),
        ("[fe80::1%lo]:1", "fe80::1%lo", 1),
        ("LocalHost:01883", "localhost", 1883),
        ("a_b.example.:65535", "a_b.example.", 65_535),
        ("k\u00e4se.example:1", "k\u00e4se.example", 1),
    ],
)
def test_there_and_back(address: str, host: str, port: int) -> None:
    """Is each spelling understood, and the same when it is put together again?"""
    assert split_host_port(address) == (host, port)
    assert split_host_port(join_host_port(host, port)) == (host, port)


@pytest.mark.parametrize(
    "address",
    [
        "", "h", "h:", ":1", "h:65536", "h:+1", "h:x", "h:000001", "h:\u0661", "::1:1", "[::1]", "[::1]x:1", "[h]:1",
        "[127.0.0.1]:1", "[v1.x]:1", "a..b:1", "a b:1", "u@h:1", "h/x:1", "h:1#x", "h:1?x", "h:1\n", "lo\tcal:1",
        "\u200bh:1", "[::1%]:1", f"{'a' * 64}:1",
    ],
)  # fmt: skip
def test_what_is_none(address: str) -> None:
    """Is what somebody else would read otherwise, or not at all, refused?"""
    with pytest.raises(ValueError, match="must be HOST:PORT"):
        split_host_port(address)
