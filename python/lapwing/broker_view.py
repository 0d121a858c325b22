"""What a broker that runs says of itself: where it listens, how it is, and what is in it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from lapwing.broker_node import core_errors
from lapwing.errors import BrokerError
from lapwing.group_pages import every_group
from lapwing.log.line import LogLine
from lapwing.text import one_line

if TYPE_CHECKING:
    from lapwing._core import Node
    from lapwing.broker_notices import BrokerNotices
    from lapwing.http import HttpServer


class BrokerView:
    """The part of `lapwing.Broker` that only looks; lines for the operator are told once."""

    _node: Node | None
    """None until it was started."""
    _http: HttpServer | None
    _notices: BrokerNotices

    @property
    def urls(self) -> list[str]:
        """The MQTT listeners' URLs, with real ports.

        Raises:
            BrokerError: it is a member of a cluster that stands by.
        """
        with core_errors():
            return self._running().listeners()

    @property
    def url(self) -> str:
        """The first MQTT listener's URL."""
        return self.urls[0]

    @property
    def http_url(self) -> str:
        """``http://HOST:PORT`` of streams, health and metrics.

        Raises:
            BrokerError: the broker was made without HTTP.
        """
        self._running()
        if self._http is None:
            raise BrokerError("this broker has no HTTP", remedy='make it with http="127.0.0.1:0"')
        return self._http.url

    @property
    def ready(self) -> bool:
        """True while the broker accepts connections and has not failed."""
        return self._node is not None and self._node.ready()

    def is_going_on(self, within_s: float) -> bool:
        """Whether each thread has turned within so many seconds (idle: one a second), the log's as it is configured."""
        return self._running().is_going_on(within_s)

    def check(self) -> None:
        """Raises the error that stopped the broker by itself, if one did.

        Raises:
            DefectError: a defect of Lapwing's own; a broker that is started again has all that was acknowledged.
            BrokerError: anything else, a failed ``fsync`` say.
        """
        with core_errors():
            self._running().check()

    def notices(self) -> list[str]:
        """What an operator should hear since the last call: exposed secrets, alarms, refusals; bounded by kind."""
        return self._notices.take() + self._running().take_notices()

    def log(self) -> list[LogLine]:
        """The same with what each line is about and how bad it is, and with who came and went."""
        told = [LogLine("start", "notice", one_line(line)) for line in self._notices.take()]
        return told + [LogLine.of_node(*line) for line in self._running().take_log()]

    @property
    def is_member(self) -> bool:
        """Whether it is a member of a cluster."""
        return self._node is not None and self._node.peer_address() is not None

    @property
    def is_serving(self) -> bool:
        """Whether clients can connect: always, but to a member of a cluster that stands by."""
        return not self.is_member or (self.cluster()["role"] == "active" and self.ready)

    @property
    def peer_address(self) -> str | None:
        """HOST:PORT where other nodes of its cluster connect; None: it is a node on its own."""
        return self._running().peer_address()

    def cluster(self) -> dict[str, Any]:
        """Where this member of a cluster stands, as ``GET /v1/cluster`` gives it.

        Raises:
            BrokerError: it is a node on its own, or has ended.
        """
        with core_errors():
            text = self._running().cluster_json()
        if text is None:
            raise BrokerError("this broker is no member of a cluster", remedy="see docs/cluster.md")
        status: dict[str, Any] = json.loads(text)
        return status

    def step_down(self, to: int | None = None) -> None:
        """Lets another node of the cluster serve in place of this one; nothing where it does not serve.

        Args:
            to: The number of that node; None: whichever is furthest.

        Raises:
            BrokerError: it is a node on its own, or no other one could serve.
        """
        with core_errors():
            is_member = self._running().step_down(to)
        if not is_member:
            raise BrokerError("this broker is no member of a cluster", remedy="see docs/cluster.md")

    def streams(self) -> list[dict[str, Any]]:
        """Every stream with its partitions' offsets, as ``GET /v1/streams`` gives them."""
        streams: list[dict[str, Any]] = json.loads(self._running().streams_json())["streams"]
        return streams

    def groups(self) -> list[dict[str, Any]]:
        """Every consumer group as it is now, as ``GET /v1/groups`` gives them."""
        return list(every_group(self._running()))

    def disk_syncs(self) -> tuple[int, int]:
        """How often the disk was asked to keep what had come since the start, and the microseconds that took."""
        return self._running().disk_syncs()

    def metrics_text(self) -> str:
        """Counters in Prometheus' text format."""
        return self._running().metrics_text()

    def metrics(self) -> dict[str, float]:
        """Counters by name, labels included: ``{'lapwing_messages_in_total{qos="0"}': 12.0}``."""
        lines = (line for line in self.metrics_text().splitlines() if line and not line.startswith("#"))
        return {name: float(value) for name, _, value in (line.rpartition(" ") for line in lines)}

    def _running(self) -> Node:
        if self._node is None:
            raise BrokerError("the broker does not run", remedy="use it in a with block, or call start()")
        return self._node
