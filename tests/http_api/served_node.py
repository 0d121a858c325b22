"""The HTTP side over a node and an authority made up for tests: no broker, no hashing."""

from __future__ import annotations

import base64
import http.client
import json
import socket
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any
from urllib.parse import urlsplit

from web import TIMEOUT_S, Response

from lapwing.config import Config, access_json
from lapwing.http import serve_http
from lapwing.http.server import HttpServer


class MadeNode:
    """Two streams, each with one partition that has nothing in it."""

    def __init__(self, authority: MadeAuthority, *names: str) -> None:
        self.names = names
        self.forgotten: list[tuple[str, str]] = []
        self.tables: dict[str, Any] = {}
        self.large = b""
        self.made_groups: Sequence[dict[str, Any]] = ()
        self.identify = authority.identify

    def streams_json(self) -> str:
        partitions = [{"partition": 0, "first_offset": 0, "next_offset": 0, "bytes": 0}]
        streams = [{"name": name, "uuid": f"uuid of {name}", "partitions": partitions} for name in self.names]
        return json.dumps({"streams": streams})

    def readers(self, _name: str) -> list[Any]:
        return []

    def forget_reader(self, name: str, reader: str) -> bool:
        self.forgotten.append((name, reader))
        return True

    def read_stream(self, name: str, *_: object) -> tuple[bytes, int, int, int]:
        return self.large or f"messages of {name}".encode(), 0, 0, 0

    def hold_reads(self, _bytes: int) -> bool:
        return True

    def cluster_json(self) -> None:
        """It is a node on its own."""

    def make_token(self) -> None:
        """The same."""

    def is_audited(self) -> bool:
        return False

    def groups(
        self, name: str | None, after: str | None, limit: int, _bytes_max: int
    ) -> tuple[list[str], int, str | None]:
        """As the node has its pages, which it tests itself; these end by number only."""
        behind = tuple((after or "").partition("/")[::2])
        wanted = [group for group in self._by_place() if _place(group) > behind and name in (None, group["name"])]
        page = wanted[:limit]
        following = "/".join(_place(page[-1])) if len(wanted) > limit else None
        return [json.dumps(group) for group in page], len(self.made_groups), following

    def _by_place(self) -> list[dict[str, Any]]:
        return sorted(self.made_groups, key=_place)

    def group_settings_json(self) -> str:
        return json.dumps(self.tables)

    def put_group(self, name: str, group_json: str) -> None:
        self.tables[name] = json.loads(group_json)

    def remove_group(self, name: str) -> bool:
        return self.tables.pop(name, None) is not None

    def sessions(self, *_: object) -> tuple[list[str], str]:
        return [], json.dumps({"matching": 0, "waiting_messages": 0, "waiting_bytes": 0, "next": None})

    def session(self, *_: object) -> None:
        return None

    def end_session(self, _client_id: str) -> bool:
        return True

    def kick_client(self, _client_id: str) -> bool:
        return True

    def hindrance(self) -> None:
        return None

    def empty_queue(self, _client_id: str) -> tuple[int, int]:
        return (3, 300)

    def bans(self) -> list[tuple[str, str | None, int, int]]:
        return []

    def lift_bans(self, address_or_name: str) -> int:
        return int(address_or_name == "203.0.113.7")

    def ready(self) -> bool:
        return True

    def metrics_text(self) -> str:
        return ""


def _place(group: dict[str, Any]) -> tuple[str, str]:
    return group["name"], group["filter"]


class MadeAuthority:
    """Users by name with their passwords, tokens with their names, and what each may: (right, name) pairs."""

    def __init__(
        self,
        passwords: Mapping[str, bytes] | None = None,
        tokens: Mapping[str, str] | None = None,
        rights: Mapping[str | None, set[tuple[str, str]]] | None = None,
    ) -> None:
        self.passwords = dict(passwords or {})
        self.tokens = dict(tokens or {})
        self.rights = dict(rights or {})
        self.asked = 0
        self.addresses: set[str] = set()
        self.arrived = threading.Semaphore(0)
        self.outcome = ""
        self.good_for_s = 60.0
        self.gate = threading.Event()
        self.gate.set()

    def knows_somebody(self) -> bool:
        return bool(self.passwords or self.tokens or self.outcome)

    def identify(
        self, username: str | None, password: bytes, address: str, _listener: str, then: Callable[..., object]
    ) -> tuple[str, str, float] | None:
        """Of a password it says so later, on a thread of its own."""
        self.asked += 1
        self.addresses.add(address)
        self.arrived.release()
        if self.outcome:
            return self.outcome, "", 0.0
        if username is None:
            return self._known(self.tokens.get(password.decode()))

        def later() -> None:
            assert self.gate.wait(TIMEOUT_S)
            then(*self._known(username if self.passwords.get(username) == password else None))

        threading.Thread(target=later).start()
        return None

    def _known(self, name: str | None) -> tuple[str, str, float]:
        return ("known", name, self.good_for_s) if name else ("wrong", "", 0.0)

    def reload(self, config_json: str) -> None:
        self.reloaded = json.loads(config_json)

    def is_permitted(self, identity: str | None, right: str, what: str) -> bool:
        rights = self.rights.get(identity, set())
        return (right, what) in rights or (right == "observe" and ("admin", "*") in rights)


RULE = {"identity": "anonymous", "may": ["admin"]}
"""Any: what it permits is the made authority's affair."""


@contextmanager
def served(
    authority: MadeAuthority | None,
    *names: str,
    rules: tuple[dict[str, Any], ...] = (),
    listeners: tuple[dict[str, Any], ...] = (),
    has_hooks: bool = False,
    address: str = "127.0.0.1:0",
    users: str | None = None,
    large: bytes = b"",
    groups: Sequence[dict[str, Any]] = (),
    **http: Any,
) -> Iterator[HttpServer]:
    """A listening HTTP side with streams of those names; further arguments are settings of its section.

    Args:
        large: What a read of any of the streams gives, in the place of a few bytes.
        groups: What the node says of its groups.
    """
    config = configured(address, rules=rules, http=http, listeners=listeners, auth={"users": users})
    authority = authority or MadeAuthority()
    node = MadeNode(authority, *names)
    node.large, node.made_groups = large, groups
    server = serve_http(node, authority, config, has_hooks=has_hooks)  # type: ignore[arg-type]
    try:
        yield server
    finally:
        server.stop()


def configured(address: str = "127.0.0.1:0", **tables: Any) -> Config:
    return Config(broker={"http": address}, **tables)  # type: ignore[arg-type]


def reload(server: HttpServer, **tables: Any) -> None:
    """What a broker does at a reload, once its node has taken the rest."""
    server.read_again()(access_json(configured(**tables)))


@contextmanager
def strangers(
    server: HttpServer, many: int, sent: bytes, *, spread: bool = False, reads_bytes: int = 0
) -> Iterator[list[socket.socket]]:
    """Connections that have sent this much; ``spread``: each from an address of its own.

    Args:
        reads_bytes: How much the kernel takes for one before it is read; 0: what it likes.
    """
    port = urlsplit(server.url).port
    with ExitStack() as stack:
        peers = []
        for number in range(many):
            source = (f"127.0.1.{number + 1}", 0) if spread else None
            peer = stack.enter_context(socket.socket())
            peer.settimeout(TIMEOUT_S)
            if reads_bytes:
                peer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, reads_bytes)
            peer.bind(source or ("", 0))
            peer.connect(("127.0.0.1", port))
            peer.sendall(sent)
            peers.append(peer)
        yield peers


def basic(user: str, password: str) -> dict[str, str]:
    return {"Authorization": f"Basic {base64.b64encode(f'{user}:{password}'.encode()).decode()}"}


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def ask(
    url: str,
    headers: Mapping[str, str] | None = None,
    *,
    method: str = "GET",
    body: bytes | None = None,
    tls: ssl.SSLContext | None = None,
    source: str = "",
) -> Response:
    """One request on a connection of its own; ``source``: the address that it comes from."""
    parts = urlsplit(url)
    host, port = str(parts.hostname), parts.port
    connection = (
        http.client.HTTPSConnection(host, port, timeout=TIMEOUT_S, context=tls)
        if parts.scheme == "https"
        else http.client.HTTPConnection(host, port, timeout=TIMEOUT_S, source_address=(source, 0) if source else None)
    )
    try:
        target = f"{parts.path}?{parts.query}" if parts.query else parts.path
        connection.request(method, target, body=body, headers=dict(headers or {}))
        response = connection.getresponse()
        kept = {name.lower(): value for name, value in response.getheaders()}
        return Response(response.status, kept, response.read())
    finally:
        connection.close()
