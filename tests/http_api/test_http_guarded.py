"""Does HTTP let in nobody whom MQTT would not, where hooks or certificates guard that and there are no users?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from served_node import RULE, MadeAuthority, ask, basic, bearer, reload, served

from lapwing import Broker
from lapwing.config import Config
from lapwing.hooks import Admit, Connect, Hooks, Refuse

TLS = {"url": "tls://127.0.0.1:0", "certificate": "a.pem", "key": "a.key", "client_ca": "ca.pem"}
CERTIFIED = {**TLS, "client_certificate": "required", "identity": "certificate-cn", "anonymous": False}
GUARDS: list[tuple[dict[str, Any], str]] = [
    ({"has_hooks": True}, "hooks"),
    ({"listeners": (CERTIFIED,)}, "client certificates"),
    # It names nobody, and takes nobody who has none.
    ({"listeners": ({**TLS, "client_certificate": "required"},)}, "client certificates"),
    ({"listeners": (CERTIFIED, {"url": "unix:///run/a.sock"}, {"url": "sn://127.0.0.1:0"})}, "client certificates"),
    ({"listeners": ({"url": "unix:///run/a.sock", "mode": "0600"},)}, "Unix socket"),
]
OPEN: list[dict[str, Any]] = [
    {},
    {"listeners": (CERTIFIED, {"url": "tcp://127.0.0.1:0"})},
    {"listeners": ({"url": "ws://127.0.0.1:0"},)},
    {"listeners": ({**TLS, "client_certificate": "optional", "anonymous": True},)},
]
CLOSED = [
    ("GET", "/v1/streams"),
    ("GET", "/v1/streams/readings"),
    ("GET", "/v1/streams/readings/0"),
    ("GET", "/v1/groups"),
    ("GET", "/v1/sessions"),
    ("GET", "/v1/queues/a"),
    ("PUT", "/v1/groups/a"),
    ("DELETE", "/v1/groups/a"),
    ("DELETE", "/v1/sessions/a"),
    ("DELETE", "/v1/queues/a"),
    ("DELETE", "/v1/streams/readings/readers/spark"),
]


@pytest.mark.parametrize(("settings", "guard"), GUARDS)
def test_what_guards_mqtt_guards_http(settings: dict[str, Any], guard: str, caplog: pytest.LogCaptureFixture) -> None:
    """Are health and metrics all there is, whatever somebody says he is, and is the way out named?"""
    with served(None, "readings", **settings) as server:
        for method, path in CLOSED:
            for headers in ({}, basic("root", "toor"), bearer("t")):
                refused = ask(server.url + path, headers, method=method)
                error = refused.json()["error"]
                assert (refused.status_code, error["code"]) == (403, "guarded"), (method, path)
                assert guard in error["message"]
                assert "http.open = true" in error["remedy"]
                assert "auth.users" in error["remedy"]
        for path in ("/healthz", "/readyz", "/metrics"):
            assert ask(server.url + path).status_code == 200, path
        assert (
            f'lapwing_http_refused_total{{reason="forbidden"}} {3 * len(CLOSED)}' in ask(f"{server.url}/metrics").text
        )
    assert [guard in told for told in caplog.messages if "health and metrics only" in told] == [True]


@pytest.mark.parametrize("settings", OPEN)
def test_where_mqtt_takes_whoever_comes_http_does(settings: dict[str, Any]) -> None:
    with served(None, "readings", **settings) as server:
        assert ask(f"{server.url}/v1/streams/readings/0").status_code == 200
        assert ask(f"{server.url}/v1/sessions/a", method="DELETE").status_code == 204


@pytest.mark.parametrize(("settings", "guard"), GUARDS)
def test_who_says_so_has_it_open(settings: dict[str, Any], guard: str, caplog: pytest.LogCaptureFixture) -> None:
    with served(None, "readings", open=True, **settings) as server:
        assert ask(f"{server.url}/v1/streams/readings/0").status_code == 200, guard
    assert not [told for told in caplog.messages if "health and metrics only" in told]


def test_users_and_rules_go_on_deciding_behind_hooks() -> None:
    """Is a user of the users file, or the anonymous with a rule, served where there are hooks too?"""
    known = MadeAuthority(tokens={"t": "spark"}, rights={"spark": {("stream", "readings")}, None: {("observe", "*")}})
    with served(known, "readings", rules=(RULE,), has_hooks=True) as server:
        assert ask(f"{server.url}/v1/streams/readings/0", bearer("t")).status_code == 200
        assert ask(f"{server.url}/v1/sessions").status_code == 200
        assert ask(f"{server.url}/v1/streams/readings/0").status_code == 401
        known.tokens.clear()
        reload(server)
        assert ask(f"{server.url}/v1/streams/readings/0", bearer("t")).status_code == 403, "a reload opens nothing"


class Door(Hooks):
    """Lets one password in, and gives it a name."""

    def on_connect(self, connect: Connect) -> Admit | Refuse:
        return Admit("kitchen") if connect.password == b"s3cret" else Refuse(0x86)


def test_a_broker_whose_hooks_are_set_is_closed_over_http(tmp_path: Path) -> None:
    """The whole way, from the setting to the answer: does HTTP learn of the hooks that a configuration names?"""
    config = Config(
        broker={"listen": "tcp://127.0.0.1:0", "http": "127.0.0.1:0", "data": tmp_path, "pin": False, "shards": 1},
        hooks={"use": f"{__name__}:Door"},
        streams={"readings": {"filter": "r/#"}},
    )  # type: ignore[arg-type]
    with Broker.from_config(config) as broker:
        assert ask(f"{broker.http_url}/v1/streams/readings/0").status_code == 403
        assert ask(f"{broker.http_url}/v1/sessions/x", method="DELETE").status_code == 403
        assert ask(f"{broker.http_url}/metrics").status_code == 200
