"""Which right each route and method needs: a table of all there are, so that none is added without one."""

from __future__ import annotations

from typing import Any

from served_node import RULE, MadeAuthority, MadeNode, ask, basic, configured, served

from lapwing.http import HttpCounters
from lapwing.http.app import routes_of

ANY_NAME = frozenset({"device", "reader", "monitor", "root"})
OPEN = ANY_NAME | {"nobody"}
READS, SEES = frozenset({"reader"}), frozenset({"reader", "root"})
OBSERVES, ADMINISTERS = frozenset({"monitor", "root"}), frozenset({"root"})
RIGHTS = {
    ("GET", "/healthz"): OPEN,
    ("GET", "/readyz"): OPEN,
    ("GET", "/metrics"): OBSERVES,
    ("GET", "/v1/streams"): ANY_NAME,  # shows each caller its own
    ("GET", "/v1/streams/{name}"): SEES,
    ("GET", "/v1/streams/{name}/{partition}"): READS,
    ("DELETE", "/v1/streams/{name}/readers/{reader}"): ADMINISTERS,
    ("GET", "/v1/groups"): OBSERVES,
    ("GET", "/v1/groups/{name}"): OBSERVES,
    ("PUT", "/v1/groups/{name}"): ADMINISTERS,
    ("DELETE", "/v1/groups/{name}"): ADMINISTERS,
    ("GET", "/v1/sessions"): OBSERVES,
    ("GET", "/v1/sessions/{client:client_id}"): OBSERVES,
    ("DELETE", "/v1/sessions/{client:client_id}"): ADMINISTERS,
    ("GET", "/v1/clients"): OBSERVES,
    ("GET", "/v1/clients/{client:client_id}"): OBSERVES,
    ("DELETE", "/v1/clients/{client:client_id}"): ADMINISTERS,
    ("GET", "/v1/queues"): OBSERVES,
    ("GET", "/v1/queues/{client:client_id}"): OBSERVES,
    ("DELETE", "/v1/queues/{client:client_id}"): ADMINISTERS,
    ("GET", "/v1/bans"): OBSERVES,
    ("DELETE", "/v1/bans/{who:client_id}"): ADMINISTERS,
    ("GET", "/v1/cluster"): OBSERVES,
    ("POST", "/v1/cluster/step-down"): ADMINISTERS,
    ("POST", "/v1/cluster/tokens"): ADMINISTERS,
    ("DELETE", "/v1/cluster/nodes/{node}"): ADMINISTERS,
}
"""Who gets further, by what there is to ask for; HEAD is GET."""
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE")
CALLERS: dict[str, set[tuple[str, str]]] = {
    "device": set(),
    "reader": {("stream", "readings")},
    "monitor": {("observe", "*")},
    "root": {("admin", "*")},
}


def known() -> MadeAuthority:
    return MadeAuthority(passwords=dict.fromkeys(CALLERS, b"p"), rights=dict(CALLERS))


def path_of(route: str) -> str:
    named = {"{node}": "1", "{name}": "readings", "{partition}": "0", "{reader}": "r"}
    for place, name in {**named, "{client:client_id}": "c", "{who:client_id}": "w"}.items():
        route = route.replace(place, name)
    return route


def test_every_route_has_its_right() -> None:
    node: Any = MadeNode(known(), "readings")
    routes = routes_of(node, configured().http, HttpCounters())
    found = {(method, route.path) for route in routes for method in route.methods or () if method != "HEAD"}
    assert found == set(RIGHTS)


def expected(method: str, route: str, name: str) -> set[int]:
    """What may be answered to somebody who asks so."""
    allowed = RIGHTS.get(("GET" if method == "HEAD" else method, route))
    if allowed is None:
        return {405}
    if name in allowed:
        return {200, 204, 400, 404}
    return {401} if name == "nobody" else {403}


def test_each_right_is_asked_for() -> None:
    """Of nobody, and of who has one right and no other, with every method; also those that a route does not have."""
    with served(known(), "readings", rules=(RULE,)) as server:
        for route in {path for _, path in RIGHTS}:
            for method in METHODS:
                for name in ("nobody", *CALLERS):
                    headers = {} if name == "nobody" else basic(name, "p")
                    status = ask(server.url + path_of(route), headers, method=method).status_code
                    assert status in expected(method, route, name), (method, route, name, status)
