"""Who may do what over HTTP, and what those hear who may not."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from served_node import RULE, MadeAuthority, ask, basic, bearer, reload, served

SECRET = "correct-horse"
READINGS = ("stream", "readings")


def authority() -> MadeAuthority:
    """``spark`` reads the stream readings, ``root`` administers, ``device`` may nothing here."""
    return MadeAuthority(
        passwords={"spark": SECRET.encode(), "root": b"toor", "device": b"d"},
        tokens={"t0ken": "spark"},
        rights={"spark": {READINGS, ("stream", "missing")}, "root": {("admin", "*")}},
    )


@pytest.mark.parametrize("headers", [basic("spark", SECRET), bearer("t0ken"), {"Authorization": "bearer  t0ken"}])
def test_a_user_reads_what_it_may_and_sees_nothing_else(headers: dict[str, str]) -> None:
    with served(authority(), "readings", "secret", rules=(RULE,)) as server:
        read = ask(f"{server.url}/v1/streams/readings/0", headers)
        assert (read.status_code, read.text) == (200, "messages of readings")
        listed = ask(f"{server.url}/v1/streams", headers).json()["streams"]
        assert [stream["name"] for stream in listed] == ["readings"]
        unknown = ask(f"{server.url}/v1/streams/missing", headers)
        assert unknown.status_code == 404
        assert "secret" not in unknown.text


@pytest.mark.parametrize("path", ["", "/0", "/0?from=nonsense", "/nonsense"])
def test_who_may_not_read_a_stream_does_not_learn_whether_it_exists(path: str) -> None:
    with served(authority(), "readings", "secret", rules=(RULE,)) as server:
        for headers, status in ((basic("device", "d"), 403), ({}, 401)):
            there = ask(f"{server.url}/v1/streams/secret{path}", headers)
            nowhere = ask(f"{server.url}/v1/streams/nowher{path}", headers)
            assert there.status_code == nowhere.status_code == status
            assert there.text.replace("secret", "nowher") == nowhere.text


def test_a_refusal_says_what_would_help() -> None:
    with served(authority(), "readings", rules=(RULE,)) as server:
        forbidden = ask(f"{server.url}/v1/streams/readings/0", basic("device", "d")).json()["error"]
        assert forbidden["code"] == "forbidden"
        assert 'identity = "device", may = ["stream"], streams = ["readings"]' in forbidden["remedy"]
        unauthenticated = ask(f"{server.url}/v1/streams/readings/0")
        assert unauthenticated.json()["error"]["code"] == "unauthenticated"
        assert unauthenticated.headers["www-authenticate"].startswith('Basic realm="lapwing"')
        assert "Bearer" in unauthenticated.headers["www-authenticate"]


def test_only_an_administrator_changes_things_and_sees_the_counters() -> None:
    with served(authority(), "readings", rules=(RULE,)) as server:
        reader = f"{server.url}/v1/streams/readings/readers/spark"
        for headers, status in ((basic("spark", SECRET), 403), (basic("root", "toor"), 204)):
            assert ask(reader, headers, method="DELETE").status_code == status
        assert ask(f"{server.url}/metrics", basic("spark", SECRET)).status_code == 403
        counted = ask(f"{server.url}/metrics", basic("root", "toor")).text
        assert 'lapwing_http_refused_total{reason="forbidden"} 2' in counted
        assert ask(f"{server.url}/v1/streams/readings", basic("root", "toor")).status_code == 200
        assert ask(f"{server.url}/v1/streams/readings/0", basic("root", "toor")).status_code == 403


OBSERVED = ["/metrics", "/v1/groups", "/v1/sessions", "/v1/queues", "/v1/bans"]
CHANGED = [
    ("PUT", "/v1/groups/a"),
    ("DELETE", "/v1/groups/a"),
    ("DELETE", "/v1/sessions/a"),
    ("DELETE", "/v1/queues/a"),
    ("DELETE", "/v1/bans/a"),
]


def test_who_observes_sees_and_changes_nothing() -> None:
    """Is `observe` enough to see, `admin` needed to change, and neither there for others?"""
    known = MadeAuthority(
        passwords={"monitor": b"m", "root": b"toor", "device": b"d"},
        rights={"monitor": {("observe", "*")}, "root": {("admin", "*")}},
    )
    with served(known, "readings", rules=(RULE,)) as server:
        for path in OBSERVED:
            asked = [ask(server.url + path, basic(*who)).status_code for who in (("monitor", "m"), ("root", "toor"))]
            assert asked == [200, 200], path
            refused = ask(server.url + path, basic("device", "d"))
            assert (refused.status_code, ask(server.url + path).status_code) == (403, 401)
            assert 'may = ["observe"]' in refused.json()["error"]["remedy"]
        assert ask(f"{server.url}/v1/sessions/a", basic("monitor", "m")).status_code == 404
        for method, path in CHANGED:
            for who in (("monitor", "m"), ("device", "d")):
                refused = ask(server.url + path, basic(*who), method=method)
                assert (refused.status_code, refused.json()["error"]["code"]) == (403, "forbidden"), (method, path)
            assert ask(server.url + path, basic("root", "toor"), method=method).status_code != 403
        assert ask(f"{server.url}/v1/streams/readings/0", basic("monitor", "m")).status_code == 403


def test_health_is_open_to_all() -> None:
    with served(authority()) as server:
        for path in ("/healthz", "/readyz"):
            assert ask(server.url + path, bearer("wrong")).status_code == 200
        for path in ("/metrics", "/v1/streams", "/nowhere", "/healthz/"):
            assert ask(server.url + path).status_code == 401


@pytest.mark.parametrize(
    "header",
    ["", "Basic", "Basic !", "Basic dXNlcg==", "Bearer", "Bearer wrong", "Digest x", "Basic /w==", "x" * 40_000],
)
def test_no_credentials_and_wrong_ones_are_401_and_not_repeated(header: str) -> None:
    with served(authority(), "readings", rules=(RULE,)) as server:
        answer = ask(f"{server.url}/v1/streams", {"Authorization": header})
        assert answer.status_code == 401
        assert header[6:] == "" or header[6:] not in answer.text


def test_without_users_and_rules_everybody_on_this_machine_may_all() -> None:
    with served(None, "readings") as server:
        for headers in ({}, bearer("anything")):
            assert ask(f"{server.url}/v1/streams/readings/0", headers).status_code == 200
            assert ask(f"{server.url}/metrics", headers).status_code == 200


def test_users_without_rules_have_no_rights(caplog: pytest.LogCaptureFixture) -> None:
    """Is a device's password no administrator's where nobody has written a rule, and is it said what to write?"""
    known = MadeAuthority(tokens={"t": "device-7"}, rights={None: {READINGS}, "device-7": {READINGS, ("admin", "*")}})
    with served(known, "readings") as server:
        paths = [("GET", path) for path in ("/v1/streams", "/v1/streams/readings", "/v1/streams/readings/0", *OBSERVED)]
        for method, path in paths + CHANGED:
            assert ask(server.url + path, method=method).status_code == 401, (method, path)
            refused = ask(server.url + path, bearer("t"), method=method)
            assert (refused.status_code, refused.json()["error"]["code"]) == (403, "forbidden"), (method, path)
            assert '[[rules]] identity = "device-7", may = [' in refused.json()["error"]["remedy"]
        assert ask(f"{server.url}/readyz").status_code == 200
        reload(server, rules=(RULE,))
        assert ask(f"{server.url}/v1/streams/readings/0", bearer("t")).status_code == 200
    told = ['[[rules]] identity = "alice"' in line for line in caplog.messages]
    assert told.count(True) == 1, "told at the start, once"


def test_rules_say_what_the_anonymous_may() -> None:
    known = MadeAuthority(tokens={"t": "u"}, rights={None: {READINGS}})
    with served(known, "readings", "secret", rules=(RULE,)) as server:
        assert ask(f"{server.url}/v1/streams/readings/0").status_code == 200
        assert ask(f"{server.url}/v1/streams/secret/0").status_code == 401, "somebody might"
        assert ask(f"{server.url}/v1/streams/readings/0", bearer("t")).status_code == 403
        assert ask(f"{server.url}/v1/streams", bearer("t")).json() == {"streams": []}
        known.rights.clear()
        assert ask(f"{server.url}/v1/streams").status_code == 401, "nothing is there for the anonymous"
        assert ask(f"{server.url}/v1/streams/readings/0", bearer("wrong")).status_code == 401


def test_users_that_come_with_a_reload_end_the_freedom_of_all() -> None:
    known = MadeAuthority()
    with served(known, "readings") as server:
        assert ask(f"{server.url}/v1/streams").status_code == 200
        known.tokens["t"] = "u"
        reload(server)
        assert ask(f"{server.url}/v1/streams").status_code == 401
        known.tokens.clear()
        reload(server, rules=(RULE,))
        assert ask(f"{server.url}/v1/streams/readings/0").status_code == 401
        assert known.reloaded["rules"][0]["identity"] == "anonymous"


def test_what_was_verified_is_not_verified_again_until_told() -> None:
    known = authority()
    with served(known, "readings", rules=(RULE,)) as server:
        for _ in range(3):
            assert ask(f"{server.url}/v1/streams", basic("spark", SECRET)).status_code == 200
        assert known.asked == 1
        known.passwords["spark"] = b"changed"
        reload(server, rules=(RULE,))
        assert ask(f"{server.url}/v1/streams", basic("spark", SECRET)).status_code == 401
        known.passwords["spark"], known.good_for_s = SECRET.encode(), 0.0
        known.asked = 0
        for asked in (1, 2):
            assert ask(f"{server.url}/v1/streams", basic("spark", SECRET)).status_code == 200
            assert known.asked == asked, "what is good for no time is remembered for none"


@pytest.mark.parametrize(("outcome", "status"), [("barred", 429), ("busy", 503), ("unavailable", 503)])
def test_where_nobody_looks_at_credentials_nobody_comes_in_and_nothing_has_failed(outcome: str, status: int) -> None:
    known = authority()
    with served(known, "readings", rules=(RULE,), failures_max=2) as server:
        known.outcome = outcome
        for _ in range(4):
            answer = ask(f"{server.url}/v1/streams", basic("spark", SECRET))
            assert (answer.status_code, answer.json()["error"]["code"]) == (status, outcome)
            assert "retry-after" in answer.headers
        known.outcome = ""
        counted = ask(f"{server.url}/metrics", basic("root", "toor")).text
        assert f'lapwing_http_refused_total{{reason="{outcome}"}} 4' in counted


def test_an_address_that_fails_too_often_is_not_listened_to() -> None:
    known = authority()
    with served(known, "readings", rules=(RULE,), failures_max=3) as server:
        url = f"{server.url}/v1/streams"
        assert ask(url, bearer("t0ken")).status_code == 200
        assert [ask(url, basic("spark", guess)).status_code for guess in "abcd"] == [401, 401, 401, 429]
        asked = known.asked
        throttled = ask(url, basic("spark", SECRET))
        assert (throttled.status_code, throttled.headers["retry-after"]) == (429, "60")
        assert known.asked == asked, "not even looked at"
        assert ask(url, bearer("t0ken")).status_code == 200, "who was verified before goes on"
        assert ask(f"{server.url}/healthz").status_code == 200


def test_who_gets_in_elsewhere_tells_one_who_guesses_nothing() -> None:
    """The right password was answered 200 and a wrong one 429 where nothing is looked at: guessing at network speed."""
    known = authority()
    with served(known, "readings", rules=(RULE,), failures_max=2) as server:
        url = f"{server.url}/v1/streams"
        assert ask(url, basic("spark", SECRET)).status_code == 200
        for guess in "ab":
            assert ask(url, basic("spark", guess), source="127.0.0.2").status_code == 401
        asked = known.asked
        guesses = [ask(url, basic("spark", guess), source="127.0.0.2") for guess in ("c", SECRET)]
        assert [answer.status_code for answer in guesses] == [429, 429]
        assert guesses[0].text == guesses[1].text
        assert ask(url, basic("spark", SECRET)).status_code == 200, "where nobody guesses nothing changes"
        assert known.asked == asked


def test_others_failures_keep_nobody_out_until_somebody_guesses_for_the_very_name() -> None:
    """Behind one address, where what was verified must be asked about again: does it go on, and is it no oracle?"""
    known = authority()
    known.good_for_s = 0.0
    with served(known, "readings", rules=(RULE,), failures_max=2) as server:
        url = f"{server.url}/v1/streams"
        got_in = [basic("spark", SECRET), basic("root", "toor"), bearer("t0ken")]
        assert [ask(url, headers).status_code for headers in got_in] == [200] * 3
        assert [ask(url, basic("eve", guess)).status_code for guess in "abc"] == [401, 401, 429]
        asked = known.asked
        assert [ask(url, headers).status_code for headers in got_in] == [200] * 3
        assert known.asked == asked + 3, "each was asked about again"
        assert ask(url, basic("spark", "guess")).status_code == 429
        assert [ask(url, headers).status_code for headers in got_in] == [429, 200, 200]
        del known.passwords["root"]
        assert [ask(url, basic("root", "toor")).status_code for _ in range(2)] == [401, 429], "right no more"


def test_a_guess_counts_while_one_who_has_got_in_is_asked_about() -> None:
    """Else each request of somebody who is right would let one more guess through."""
    known = authority()
    known.good_for_s = 0.0
    with served(known, "readings", rules=(RULE,), failures_max=2) as server, ThreadPoolExecutor(1) as pool:
        url = f"{server.url}/v1/streams"
        assert ask(url, basic("spark", SECRET)).status_code == 200
        assert [ask(url, bearer(guess)).status_code for guess in "abc"] == [401, 401, 429]
        for _ in range(known.asked):
            assert known.arrived.acquire(timeout=30)
        known.gate.clear()
        waiting = pool.submit(ask, url, basic("spark", SECRET))
        assert known.arrived.acquire(timeout=30)
        assert ask(url, basic("spark", "guess")).status_code == 429
        known.gate.set()
        assert waiting.result().status_code == 200
        assert ask(url, basic("spark", SECRET)).status_code == 429


@pytest.mark.skipif(not Path("/proc/net/if_inet6").exists(), reason="this machine has no IPv6")
def test_at_every_address_of_ipv6_those_of_ipv4_are_each_their_own(caplog: pytest.LogCaptureFixture) -> None:
    """One that guesses was all of them there. Is each named as it is, to the node and in the log, too?"""
    known = authority()
    with served(known, rules=(RULE,), failures_max=1, address="[::]:0", users="none.toml", plain=True) as server:
        url = f"http://127.0.0.1:{server.url.rpartition(':')[2]}/v1/streams"
        guesses = [ask(url, basic("spark", guess), source="127.0.0.2").status_code for guess in "ab"]
        assert guesses == [401, 429]
        assert ask(url, basic("spark", SECRET), source="127.0.0.3").status_code == 200
    assert known.addresses == {"127.0.0.2", "127.0.0.3"}
    assert [line for line in caplog.messages if "answers 429 to 127.0.0.2" in line]


def test_verifying_blocks_nobody() -> None:
    """While forty passwords are not answered, as many as would have taken every thread, is everybody else?"""
    known = authority()
    known.gate.clear()
    with served(known, "readings", rules=(RULE,), failures_max=1000) as server, ThreadPoolExecutor(40) as pool:
        url = f"{server.url}/v1/streams"
        waiting = [pool.submit(ask, url, basic("spark", f"{guess}")) for guess in range(40)]
        for _ in waiting:
            assert known.arrived.acquire(timeout=60)
        assert ask(f"{server.url}/healthz").status_code == 200
        assert ask(url, bearer("t0ken")).status_code == 200
        assert not any(future.done() for future in waiting)
        known.gate.set()
        assert [future.result().status_code for future in waiting] == [401] * 40
