"""Is a listener called by its own names and by nobody else's, and is a page of another site known as one?"""

from __future__ import annotations

import pytest

from lapwing.same_origin.host_names import HostNames, is_foreign, only_looks

LOOPBACK = ["localhost", "LOCALHOST:8080", "127.0.0.1", "127.0.0.1:1", "127.9.9.9:8080", "[::1]", "[::1]:8080"]
BENT = [
    "evil.example", "evil.example:8080", "localhost.evil.example", "127.0.0.1.evil.example", "localhost.", "evil",
    "127.0.0.1@evil.example", "127.0.0.1, evil.example", "127.0.0.1/evil", "127.0.0.1:8080:1", "[evil]", "::1",
    "127.1", "2130706433", "0x7f.0.0.1", "127.0.0.01", "", ":8080", " ", "[::1", "*", "0.0.0.0:8080", "[::]",
]  # fmt: skip


@pytest.mark.parametrize("host", LOOPBACK)
@pytest.mark.parametrize("configured", ["127.0.0.1", "localhost", "::1", "0.0.0.0", "::"])
def test_on_loopback_every_name_of_loopback_is_ours(host: str, configured: str) -> None:
    assert HostNames(configured).includes(host, "::1" if ":" in configured else "127.0.0.1")


@pytest.mark.parametrize("host", BENT)
@pytest.mark.parametrize("configured", ["127.0.0.1", "localhost", "::1", "10.0.0.7", "0.0.0.0", "::"])
def test_a_name_that_somebody_can_bend_never_is(host: str, configured: str) -> None:
    assert not HostNames(configured).includes(host, "127.0.0.1")


def test_the_address_that_was_reached_is_ours_and_no_other() -> None:
    names = HostNames("10.0.0.7")
    assert names.includes("10.0.0.7:8080", "10.0.0.7")
    for host in ("10.0.0.8", "127.0.0.1", "localhost"):
        assert not names.includes(host, "10.0.0.7"), host
    assert not HostNames("127.0.0.1").includes("10.0.0.7", "127.0.0.1")


def test_behind_a_wildcard_every_address_is_ours_for_orchestrators_and_containers() -> None:
    for configured in ("0.0.0.0", "::"):
        for host in ("10.1.2.3:8080", "[fd00::7]:8080", "[::ffff:10.1.2.3]", "localhost:8080"):
            assert HostNames(configured).includes(host, "172.17.0.2"), (configured, host)


def test_names_that_are_set_are_ours_beside_the_configured_one() -> None:
    names = HostNames("node-1", ("broker.example", "fd00::7"))
    for host in ("node-1:8080", "Broker.Example:443", "[FD00:0::7]"):
        assert names.includes(host, "10.0.0.7"), host
    assert not names.includes("sub.broker.example", "10.0.0.7")
    everything = HostNames("127.0.0.1", ("*",))
    assert everything.includes("whatever.example", "127.0.0.1")
    assert not everything.includes("0.0.0.0:8080", "127.0.0.1"), "which only a page says"


@pytest.mark.parametrize("site", ["cross-site", "same-site", "Cross-Site", "other", ""])
def test_a_browser_that_says_the_page_is_elsewhere_is_believed(site: str) -> None:
    assert is_foreign("127.0.0.1:8080", [], [site])
    assert is_foreign("127.0.0.1:8080", [], ["same-origin", site])


@pytest.mark.parametrize(
    "origin",
    ["null", "", "http://evil.example", "http://127.0.0.1", "http://127.0.0.1:3000", "http://localhost:8080",
     "127.0.0.1:8080", "http://127.0.0.1:8080.evil.example", "http://127.0.0.1:8080/"],
)  # fmt: skip
def test_an_origin_that_is_not_exactly_ours_is_foreign(origin: str) -> None:
    assert is_foreign("127.0.0.1:8080", [origin], [])


def test_our_own_page_and_programs_are_not_foreign() -> None:
    assert not is_foreign("127.0.0.1:8080", [], [])
    assert not is_foreign("127.0.0.1:8080", [], ["none"])
    assert not is_foreign("127.0.0.1:8080", ["http://127.0.0.1:8080"], ["same-origin"])
    assert not is_foreign("broker.example", ["https://Broker.example"], [])
    assert not is_foreign("broker.example:443", ["https://broker.example"], [])
    assert is_foreign("127.0.0.1:8080", ["http://127.0.0.1:8080"] * 2, []), "no browser sends two"


@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_a_link_and_an_image_only_look(method: str) -> None:
    assert only_looks(method, [])
    assert not only_looks(method, ["null"]), "a script asks"


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "get"])
def test_a_form_does_more_than_look(method: str) -> None:
    assert not only_looks(method, [])
