"""A broker inside this process: ``with lapwing.Broker() as broker: ... broker.url``."""

from __future__ import annotations

import json
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from lapwing._core import Node
from lapwing.audit.broker import BrokerAudit
from lapwing.broker_guard import stepping_down
from lapwing.broker_node import core_errors, end, start_errors
from lapwing.broker_notices import BrokerNotices
from lapwing.broker_parts import bound_for_http, choosers_of, dispatcher_of, start_http
from lapwing.broker_reload import check_tables_stay, reload_json, tables_of
from lapwing.broker_tables import (
    GroupLike,
    HoldLike,
    ListenerLike,
    StreamLike,
    TopicLike,
    broker_table,
    checked_config,
    given_tables,
    put_group_json,
    stream_tables,
)
from lapwing.broker_view import BrokerView
from lapwing.config import Config, cluster_json, node_json
from lapwing.config.access_change import AccessCounts, check_still_closed
from lapwing.config.auth import access_tables, user_names
from lapwing.config.openness import check_listeners, users_notices
from lapwing.config.restart import RELOADED
from lapwing.errors import BrokerError, ConfigError, LapwingError
from lapwing.rehearsal.ports import check_twins

if TYPE_CHECKING:
    from lapwing.hooks import Hooks
    from lapwing.http import HttpServer


class Broker(BrokerView):
    """A broker with its listeners, streams and, if asked for, HTTP; started once, stopped once.

    Args:
        listen: URLs of MQTT listeners with default settings, or one of them; port 0 lets the system choose. None:
            a free port of loopback, or nothing where there are ``listeners``.
        listeners: Listeners with settings of their own: TLS, WebSocket, limits.
        streams: Streams by name: settings, or just the topic filter.
        groups: Consumer groups by share name or pattern: ``{"alarms": {"filters": ["alarms/#"]}}``.
        topics: What holds for some topics, by topic filter: ``{"telemetry/#": {"durability": "memory"}}``.
        hold: Messages that wait for their first subscriber, by topic filter: ``{"commands/#": {"messages": 100}}``.
        http: HOST:PORT of streams, health and metrics; None for no HTTP.
        data: Folder of the log. None: a temporary folder, **deleted when the broker stops**.
        durability: "disk" or "memory": where sessions, what waits for them, and retained messages are kept. None: on
            disk where ``data`` is given.
        shards: Data threads; 0 means one per core, and one where there are two cores.
        pin: Keep each data thread on a core of its own; off by default, because this process has other work.
        limits: Limits by name, as in the ``[limits]`` table: ``{"packet_bytes_max": "16MiB"}``.
        users: File of users, as ``lapwing user`` writes it. None: names and passwords mean nothing.
        rules: Who may do what, as ``[[rules]]`` tables; with none, everybody may everything.
        sys_interval: How often the ``$SYS`` tree is published; 0 for none.
        events: What clients do, as messages, as in the ``[events]`` table: ``{"clients": True}``.
        audit: Who came, was refused, changed what, as in the ``[audit]`` table: ``{"file": "audit.jsonl"}``.
        envelope: Who is told of publishers, as in the ``[envelope]`` table: ``{"stamp": "always"}``.
        hooks: Code of yours that judges or watches what clients do; see ``lapwing.hooks``.
        hook_settings: As in the ``[hooks]`` table: ``{"timeout": "2s", "on_failure": "pass"}``.

    Raises:
        ConfigError: a setting is wrong; every problem is listed.
    """

    def __init__(
        self,
        listen: str | Sequence[str] | None = None,
        *,
        listeners: Sequence[ListenerLike] = (),
        streams: Mapping[str, StreamLike] | None = None,
        groups: Mapping[str, GroupLike] | None = None,
        topics: Mapping[str, TopicLike] | None = None,
        hold: Mapping[str, HoldLike] | None = None,
        http: str | None = None,
        data: str | Path | None = None,
        durability: str | None = None,
        shards: int = 0,
        pin: bool = False,
        limits: Mapping[str, object] | None = None,
        users: str | Path | None = None,
        rules: Sequence[Mapping[str, object]] = (),
        sys_interval: str | int = "10s",
        events: Mapping[str, object] | None = None,
        audit: Mapping[str, object] | None = None,
        envelope: Mapping[str, object] | None = None,
        hooks: Hooks | None = None,
        hook_settings: Mapping[str, object] | None = None,
    ) -> None:
        self._temporary = None if data is not None else tempfile.TemporaryDirectory(prefix="lapwing-")
        folder = data if self._temporary is None else self._temporary.name
        durability = durability or ("memory" if data is None else "disk")
        broker = broker_table(listen, listeners, http=http, data=folder, durability=durability, shards=shards, pin=pin)
        document = given_tables(
            broker=broker,
            streams=stream_tables(streams or {}),
            groups=groups,
            topics=topics,
            hold=hold,
            limits=limits,
            sys={"interval": sys_interval},
            events=events,
            audit=audit,
            envelope=envelope,
            hooks=hook_settings,
            auth={"users": users},
        )
        self._prepare(checked_config({**document, "listeners": list(listeners), "rules": list(rules)}), hooks)

    @classmethod
    def from_config(cls, config: Config, file: Path | None = None) -> Self:
        """A broker from a whole configuration, as ``lapwing.config.load`` gives it.

        Args:
            config: The configuration.
            file: Where it was read from, if from a file: others must not be able to write it.
        """
        broker = cls.__new__(cls)
        broker._temporary = None
        broker._prepare(config, file=file)
        return broker

    def _prepare(self, config: Config, hooks: Hooks | None = None, file: Path | None = None) -> None:
        if hooks is not None and config.hooks.use is not None:
            raise ConfigError("hooks are given twice", where="hooks, hooks.use", remedy="give one of them")
        check_listeners(config, has_hooks=hooks is not None)
        self.config = config
        self._reloading = threading.Lock()
        self._hooks = hooks
        self._node: Node | None = None
        self._http: HttpServer | None = None
        self._access = AccessCounts(None, 0)
        self._begun: dict[str, str] = {}
        self._file = file
        self._notices = BrokerNotices(file, has_hooks=hooks is not None)
        self._audited = BrokerAudit()

    def start(self) -> Self:
        """Opens the log and the listeners; clients can connect on return.

        A member of a cluster (``[cluster]``) takes part on return, and clients can connect to it while it is the one
        that serves: see ``cluster``.

        With ``broker.user`` this process becomes that account on the way, for good.

        Raises:
            ConfigError: one address is named twice; the hooks or a group's strategy cannot be loaded or used; others
                may write a file that the broker believes; it cannot become the account of ``broker.user``, or that
                could not use a file.
            AddressInUseError: another process listens at one of the addresses.
            DataFolderError: the data folder cannot be used, or its log is damaged; ``WrongFolderError``: it is none.
            BrokerError: anything else that stops it, or it was started before.
        """
        if self._node is not None:
            raise BrokerError("the broker was started before", remedy="make a new Broker")
        check_twins(self.config)
        with stepping_down(self.config, self._file) as on_bound:
            self._notices.look(self.config)
            dispatcher, strategies = dispatcher_of(self.config, self._hooks), choosers_of(self.config)
            self._notices.look_at_loaded(self.config)
            http_sockets = None if on_bound is None else bound_for_http(self.config)
            with start_errors(self.config):
                self._node = Node(node_json(self.config), dispatcher, strategies, cluster_json(self.config))
                tables = access_tables(self.config)
                self._access = AccessCounts.of(tables)
                self._begun = tables_of(self.config, tables)
                self._notices.say(users_notices(self.config, user_names(tables)))
                self._node.start(on_bound)
                self._audited.started(self._node, tables, self.config)
        try:
            self._http = start_http(self._node, self.config, tables, http_sockets, has_hooks=self._hooks is not None)
        except LapwingError:
            self.stop()
            raise
        return self

    def look_at_certificates(self) -> None:
        """Says of certificates what time alone has changed since the start or the last reload."""
        self._notices.look_at_certificates(self.config)

    def start_progress(self) -> tuple[int, int]:
        """Bytes of the log that :meth:`start` has read, and how many it has to read in all, for another thread to ask.

        Both are 0 before that is known, and where nothing is kept. Behind the last byte sessions are made of it.
        """
        return (0, 0) if self._node is None else self._node.start_progress()

    def stop(self, drain_s: float = 0.0) -> None:
        """Stops; with ``drain_s`` clients are let go in order first, for at most that long.

        Raises:
            BrokerError: the node could not end as it should.
        """
        node, http, self._http = self._node, self._http, None
        try:
            end(node, drain_s)
        finally:
            if http is not None:
                http.stop()
            if self._temporary is not None:
                self._temporary.cleanup()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def reload(self, config: Config | Callable[[], Config] | None = None) -> int:
        """Takes over what may change while the broker runs: users, rules, topics, groups, certificates and keys.

        All of it or, on an error, nothing. A configuration without users or rules where there were some is an error,
        unless ``auth.no_users`` or ``auth.no_rules`` says that it is meant: a file that is just being written must not
        open the broker. Of groups, tables that are new, changed or gone since the configuration was read last are taken
        over: what was changed while the broker runs (``put_group``, HTTP) stays where the configuration says what it
        said before. New connections use the new certificates, those there are go on. Of two threads one waits for
        the other.

        Args:
            config: Where users, rules, topics and groups stand now, or what reads it; None: where they stood before,
                and the users file is read again.

        Returns:
            The number of listeners that have read certificates again.

        Raises:
            ConfigError: a user, a rule, a topic or a group is wrong, a file cannot be used, or others may write one
                that the broker believes; nothing is taken over.
        """
        with self._reloading, self._audited.failure("reload_failed"):
            return self._reload(config() if callable(config) else config or self.config)

    def _reload(self, config: Config) -> int:
        """Whatever can be wrong is found before anything changes."""
        node = self._running()
        self._notices.look(config)
        before, tables = self.config, access_tables(config)
        if before.cluster.name is not None:
            check_tables_stay(self._begun, config, tables)
        access = AccessCounts.of(tables)
        check_still_closed(self._access, access, config.auth)
        take_over_http = None if self._http is None else self._http.read_again()
        with core_errors():
            listeners = node.reload(reload_json(before, config, tables))
            self.config = before.model_copy(update={key: getattr(config, key) for key in RELOADED})
            self._access = access
            self._notices.say(users_notices(config, user_names(tables)))
            if take_over_http is not None:
                take_over_http(json.dumps(tables))
            self._audited.access(tables)
            self._audited.reloaded(before, self.config, listeners)
        return listeners

    @property
    def access_counts(self) -> AccessCounts:
        """How many users and rules are in force, since the start or the last reload."""
        return self._access

    def put_group(self, name: str, group: GroupLike) -> None:
        """Replaces the settings under a share name or pattern, or adds some; groups there are go on with them.

        Raises:
            ConfigError: a key or value is wrong; every one is named.
        """
        table = put_group_json(name, group)
        with core_errors():
            self._running().put_group(name, table)
            self._audited.changed("put_group", name)

    def remove_group(self, name: str) -> bool:
        """Takes the settings under a share name or pattern away; False when there were none.

        Durable groups that they declared end, with what waits in them.
        """
        with core_errors():
            was_there = self._running().remove_group(name)
            self._audited.changed("remove_group", name, was_there=was_there)
            return was_there
