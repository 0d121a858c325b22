"""Is guessing bounded per address, and nobody else's business?"""

from __future__ import annotations

from lapwing.http.attempts import ADDRESSES_MAX, FailedAttempts
from lapwing.http.conftest import Clock


def fail(attempts: FailedAttempts, address: str, times: int) -> None:
    for _ in range(times):
        attempts.failed(address)


def test_an_address_has_so_many_failures_a_minute(clock: Clock) -> None:
    attempts = FailedAttempts(6)
    fail(attempts, "10.0.0.1", 5)
    assert attempts.allowed("10.0.0.1")
    fail(attempts, "10.0.0.1", 1)
    assert not attempts.allowed("10.0.0.1")
    assert attempts.allowed("10.0.0.2")
    clock.now += 9.9
    assert not attempts.allowed("10.0.0.1")
    clock.now += 0.2
    assert attempts.allowed("10.0.0.1"), "one in ten seconds, of six in a minute"


def test_a_network_of_ipv6_is_one_address(clock: Clock) -> None:
    attempts = FailedAttempts(2)
    fail(attempts, "2001:db8::1", 1)
    fail(attempts, "2001:db8::ffff", 1)
    assert not attempts.allowed("2001:db8:0:0:1::")
    assert attempts.allowed("2001:db8:0:1::")


def test_memory_is_bounded_and_the_oldest_goes(clock: Clock) -> None:
    known = FailedAttempts(1)
    fail(known, "first", 1)
    for number in range(ADDRESSES_MAX - 1):
        fail(known, str(number), 1)
    assert not known.allowed("first")
    fail(known, "last", 1)
    assert known.allowed("first")
    assert not known.allowed("last")


def test_addresses_of_ipv4_at_a_listener_of_ipv6_are_each_their_own(clock: Clock) -> None:
    """All of them were one /64, so anybody's wrong passwords were everybody's."""
    attempts = FailedAttempts(1)
    fail(attempts, "::ffff:192.0.2.1", 1)
    assert not attempts.allowed("::ffff:192.0.2.1")
    assert not attempts.allowed("192.0.2.1")
    assert attempts.allowed("::ffff:192.0.2.2")
