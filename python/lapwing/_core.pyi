"""The Rust side, in types. Written by hand, compared with the module by a test."""

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypedDict, final

from typing_extensions import Buffer

__all__ = [
    "IS_DEV_BUILD",
    "Authority",
    "Client",
    "CoreError",
    "Delivery",
    "Fleet",
    "Link",
    "Node",
    "Sink",
    "Swarm",
    "__version__",
    "audit_trail_fault",
    "believed_files",
    "certificate_times",
    "cluster_found",
    "cluster_join",
    "data_files_fault",
    "data_folder_fault",
    "data_folder_holder",
    "default_tables_json",
    "dispatch_table_json",
    "exposures",
    "files_digest",
    "filter_fault",
    "filter_matches",
    "give_back_start",
    "guards_of_mqtt",
    "hash_password",
    "is_private_group",
    "kind_at",
    "look_at_files",
    "made_files",
    "made_partitions",
    "memory_notices",
    "monotonic_ns",
    "store_backup",
    "store_check",
    "store_dump",
    "store_repair",
    "store_restore",
    "strange_kinds",
    "swarm_report_json",
    "topic_fault",
    "try_strategy",
    "unguarded_listeners",
    "unseen_in_name",
    "users_notice",
    "weak_rsa_key",
]

__version__: str
# Not optimised, with checks for tests: its figures say nothing.
IS_DEV_BUILD: bool

class CoreError(Exception):
    """An error of the Rust side.

    ``code`` is stable. Of a node: ``config``, ``address`` (not valid), ``address_in_use``, ``bind``, ``certificate``,
    ``data_folder`` (not writable, locked, of another format), ``data_corrupt``, ``data_full``,
    ``stream_settings``, ``store``, ``system``, ``defect``, ``drain_timeout``, ``state`` (not started, or
    started twice). Of reading a stream: ``stream_unknown``, ``partition_unknown``, ``offset_trimmed``
    (evidence ``first_offset``, ``next_offset``), ``offset_ahead`` (evidence ``next_offset``), ``reader``,
    ``data_corrupt``, ``store``.
    """

    code: str
    message: str
    remedy: str
    evidence: dict[str, int]
    rejections: list[tuple[int, str, int, str]]
    """Only with the code ``unpublished``: number, topic, reason code, words of each message that was refused."""

@final
class Authority:
    """Users and rules, asked from any thread; see ``lapwing.config.access_json``."""

    def __new__(cls, config_json: str) -> Authority:
        """Reads users and rules: ``{"auth": {"users": [...]}, "rules": [...]}``."""
    def reload(self, config_json: str) -> None:
        """Takes other users and rules from now on; on an error nothing changes."""
    def has_users(self) -> bool:
        """True when there is a users file; without one no password and no token is anybody's."""
    def knows_somebody(self) -> bool:
        """True when there is anything that credentials are checked against: users, tokens, somebody to ask."""
    def check_password(self, user: str, password: bytes) -> str | None:
        """The user's name, if this is its password or one of its tokens.

        Takes tens of milliseconds, without the interpreter's lock; once verified, microseconds.
        """
    def check_token(self, token: str) -> str | None:
        """The name of the user whose token this is."""
    def may(self, identity: str | None, right: str, what: str) -> bool:
        """Whether somebody may ``connect`` with a client id, ``publish`` to a topic, ``subscribe`` to a filter, read a
        ``stream``, ``observe`` or ``admin``.

        ``identity`` None is anonymous. Rules with ``%c`` permit nothing here: there is no client id.
        """

    def is_permitted(self, identity: str | None, right: str, what: str) -> bool:
        """The same, where nobody may anything without rules: what HTTP asks."""

def certificate_times(pem: bytes) -> list[tuple[bool, int, int | None]]:
    """From when until when certificates and revocation lists hold, of all in PEM that can be read: whether it is a
    list, and seconds since 1970, UTC; None: without end."""

def cluster_found(config_json: str, cluster_json: str, name: str) -> None:
    """Makes the data folder that of the first node of a new cluster of this name; no broker runs on it meanwhile.

    Raises:
        CoreError: it is one already, or cannot be written; then it is as it was.
    """

def cluster_join(config_json: str, cluster_json: str, token: str) -> tuple[int, str, bool]:
    """Has the empty data folder join the cluster that has made the token: the node's number, the cluster's name, and
    whether it will vote when it has caught up.

    Raises:
        CoreError: what the cluster says, or that nobody does; the folder is nobody's then.
    """

def give_back_start() -> None:
    """Unmaps what only the start of this program has read of it and its libraries: what is touched again comes back
    from the page cache.

    Raises:
        OSError: the system refuses it.
    """

def weak_rsa_key(pem: bytes) -> str | None:
    """What to say of the shortest RSA key of the certificates in PEM, if it is too short: "RSA of 1024 bits,
    and ..."; None: none is known to be."""

def unguarded_listeners(entrance_json: str) -> list[tuple[list[str], str | None, str]]:
    """Listeners that nobody guards, or that nobody could come through: the parts of the key, its address, what to do.
    Without an address: there is no listener at all.

    ``entrance_json``: see ``lapwing.config.entrance``.
    """

def exposures(entrance_json: str) -> list[str]:
    """What a configuration leaves open to others that its writer may not have meant, a line each, the worst first."""

def guards_of_mqtt(entrance_json: str) -> str:
    """What keeps somebody without a name from MQTT beside users, rules and hooks, in words; empty: nothing does."""

def topic_fault(topic: str) -> str | None:
    """Why nothing can be published to a topic, in words behind it; None: something can.

    By the rules of MQTT 4.7, without the limits of a broker.
    """

def filter_matches(topic_filter: str, topic: str) -> bool:
    """Whether an ordinary filter matches a topic, by the rules of MQTT 4.7."""

def filter_fault(topic_filter: str) -> str | None:
    """Why nobody can subscribe to a filter, ordinary or shared, in words behind it; None: somebody can.

    By the rules of MQTT 4.7 and 4.8.2, without the limits of a broker.
    """

def unseen_in_name(name: str) -> str | None:
    """What of a user's name nobody sees, in words behind it; None: all of it shows."""

def users_notice(names: list[str] | None, asks_others: bool) -> str | None:
    """What to say of a users file, behind its name: without users, or with names that do not show as they are.

    ``names``: of all in it; None: there is no such file.
    """

def memory_notices(limits_json: str) -> list[str]:
    """Limits of memory that are above what this process may have, a line each.

    ``limits_json``: the table as a node takes it.
    """

def believed_files(
    file: str | os.PathLike[str] | None,
    listeners: int,
    named: Mapping[str, Sequence[str | os.PathLike[str]]],
) -> list[tuple[Path, str, bool]]:
    """Files of a configuration that decide who may what: path, the key that names it, whether what is in it is secret.

    ``file``: where it was read from; ``listeners``: how many it has; ``named``: all files that it names, by key, such
    as ``listeners.0.crl``.
    """

def made_files(trail: str | os.PathLike[str] | None, urls: Sequence[str]) -> list[tuple[Path, str, bool]]:
    """What the broker makes itself and nobody else may: its audit trail, and the folders of its Unix sockets.

    ``urls``: of all listeners. As ``believed_files`` gives them.
    """

def look_at_files(
    files: Sequence[tuple[str | os.PathLike[str], str, bool]],
    searched: Sequence[tuple[str | os.PathLike[str], str, bool]],
    data: str | os.PathLike[str] | None,
    uid: int,
    private_group: int | None,
) -> tuple[list[tuple[str, str, str]], list[str]]:
    """What others may write: what is wrong, where the configuration says so, what to do; and lines about what they may
    read.

    ``files``: path, the key that names it, whether what is in it is secret. ``searched``: folders in which modules are
    looked for, likewise. ``data``: the folder where something is kept. ``uid``: the broker's account;
    ``private_group``: its group, if nobody else is in it.
    """

def files_digest(files: Sequence[str | os.PathLike[str]]) -> int | None:
    """A number of this process that stands for what is in all of ``files``; None: there are none."""

def strange_kinds(files: Sequence[tuple[str | os.PathLike[str], str, bool]]) -> list[tuple[str, str, str]]:
    """The same of what lies where one of ``files`` is named and is neither a file nor a folder."""

def kind_at(path: str | os.PathLike[str]) -> str | None:
    """What lies there, "a pipe" say, where it is neither a file nor a folder; None: one of these, or nothing."""

def is_private_group(account: str, group: str, members: Sequence[str]) -> bool:
    """Whether a group is one that has the account's name and no other member."""

def default_tables_json() -> str:
    """The node's configuration with every default: ``{"config", "stream", "hold", "topic_tables_max"}``; the stream's
    filter is ``#``."""

def dispatch_table_json() -> str:
    """Strategies of consumer groups: ``{"strategies": [names], "parameters": [{"name", "low", "high", "default",
    "meaning"}], "group", "dispatch"}``, the last two being the node's tables with every default."""

def try_strategy(
    chooser: object,
    members: Sequence[tuple[str, int, int, int]],
    fallback: str,
    timeout_us: int,
    messages: int,
    interval_us: int,
    within_us: int,
) -> tuple[list[tuple[int, int] | None], dict[str, int], list[str]]:
    """Runs messages through one group in real time; see ``lapwing.strategy.try_out``. ``chooser``: a ``Chooser``.

    ``members``: client id, Receive Maximum, round trip, work. Returns who finished each message and when, the counters,
    and failures. Raises ``ValueError`` for a fallback that there is not.
    """

def hash_password(password: bytes) -> str:
    """Hashes a password for a users file: argon2id, as a PHC string."""

def store_check(data: str | os.PathLike[str], tell: Callable[[str], object]) -> bool:
    """Reads all of a data folder that no broker uses; false: something is damaged.

    ``tell`` gets one JSON object at a time: ``begin``, each ``file``, each ``group``, the ``result``; something true
    breaks off. Codes of these jobs' ``CoreError``: ``store_usage`` (no data folder, in use, no such name),
    ``store_refused`` (more would be lost), and those of a node's log.
    """

def store_dump(
    data: str | os.PathLike[str],
    tell: Callable[[str], object],
    group: int | None = None,
    stream: str | None = None,
    payload: bool = False,
) -> None:
    """Tells every record of the data groups, of one of them, or of a stream; ``payload``: as ``payload_hex``."""

def store_repair(
    data: str | os.PathLike[str],
    tell: Callable[[str], object],
    accept_loss_of: Sequence[str] = ...,
    trial: bool = False,
) -> bool:
    """Puts a data folder right; false: something else is damaged, and nothing was changed.

    Tells ``begin``, each ``file``, then ``damage``, ``loss``, ``whole``, ``mended`` and ``dropped`` as there are, and
    the ``result``. ``trial``: tells the same, and changes nothing.
    """

def store_backup(data: str | os.PathLike[str], target: str | os.PathLike[str], tell: Callable[[str], object]) -> bool:
    """Copies a data folder, also one that a broker uses, and checks the copy; false: ``tell`` broke it off."""

def store_restore(backup: str | os.PathLike[str], data: str | os.PathLike[str], tell: Callable[[str], object]) -> bool:
    """Makes a data folder of a copy, and checks it; false: ``tell`` broke it off."""

def data_folder_fault(data: str | os.PathLike[str]) -> str | None:
    """What a start would refuse of a data folder before it reads what is in it; None: nothing. Writes nothing."""

def data_files_fault(data: str | os.PathLike[str], streams: list[str], has_groups: bool) -> tuple[str, bool] | None:
    """What a start with these streams would refuse of a data folder because a file is gone, or is none, and whether it
    would for as long as nobody changes the folder; None: nothing.

    ``has_groups``: data groups are kept in it, too. Only where nobody has the folder; writes nothing.
    """

def data_folder_holder(data: str | os.PathLike[str]) -> str | None:
    """Who has a data folder now: a process, or ``unknown``; None: nobody."""

def made_partitions(data: str | os.PathLike[str], stream: str) -> int | None:
    """The partitions that a stream was made with; None: nothing was ever kept of it, or it cannot be read."""

def audit_trail_fault(file: str | os.PathLike[str], chained: bool) -> tuple[str, bool] | None:
    """Why a start could not go on with an audit trail, and whether that is only that another broker writes it; None:
    it could. Writes nothing."""

@final
class Node:
    """A broker in this process: made from a configuration, started once, stopped once."""

    def __new__(
        cls,
        config_json: str,
        hooks: object | None = None,
        strategies: Mapping[str, object] | None = None,
        cluster_json: str | None = None,
    ) -> Node:
        """Reads and checks the configuration; opens nothing.

        ``hooks``: a ``lapwing.hooks.dispatch.Dispatcher``. ``strategies``: by the ``use`` of groups' tables a
        ``lapwing.strategy.chooser.Chooser``. ``cluster_json``: the table of a member of a cluster, which serves when
        it is the one to; while it stands by, what needs a node that serves raises the code ``standby``.
        """
    def start(self, on_bound: Callable[[], object] | None = None) -> None:
        """Opens the log and the listeners and starts the threads; ready on return.

        ``on_bound`` is called on this thread once every port is bound and before anybody can connect; what it raises
        ends the start.
        """
    def start_progress(self) -> tuple[int, int]:
        """Bytes of the log that a start has read, and how many it has to read in all; both 0 until that is known."""
    def listeners(self) -> list[str]:
        """The addresses that clients connect to, with their real ports."""
    def audit(self, name: str, fields_json: str, refusal: str | None = None) -> None:
        """Has an event written into the audit trail, if there is one: a word, and an object in JSON; ``refusal``: it
        has the rate of that kind of refusal (``connect``, ``publish``, ``subscribe``, ``http``)."""
    def identify(
        self,
        username: str | None,
        password: bytes,
        address: str,
        listener: str,
        then: Callable[[Literal["known", "wrong", "barred", "busy", "unavailable"], str, float], object],
    ) -> tuple[Literal["known", "wrong", "barred", "busy", "unavailable"], str, float] | None:
        """Who sends a request over HTTP, with this password or token (``username`` None: a token): as for a CONNECT,
        and as long. With ``known`` a name, and for how many seconds the answer is as good. Where it takes work None,
        and ``then`` is called with the answer, once, on a thread of the node's."""
    def hold_reads(self, delta: int) -> bool:
        """Answers of stream reads take up so many bytes more, or less; false: memory is above ``memory_high_bytes``."""
    def is_audited(self) -> bool:
        """Whether there is an audit trail."""
    def reload(self, reload_json: str) -> int:
        """Takes over what ``lapwing.broker_reload.reload_json`` makes, and the listeners' certificates: all of it, or
        on an error nothing. Returns for how many listeners these were read again."""
    def listener_faults(self) -> list[tuple[str, str]]:
        """What a start would refuse of the listeners' settings and files: for each what is wrong, and what to do."""
    def ready(self) -> bool:
        """True while the node accepts connections and has not failed."""
    def hindrance(
        self,
    ) -> tuple[Literal["disk_full", "disk_stalled", "shard_stalled", "memory_high", "standby"], str, str] | None:
        """What keeps a node that runs from serving: a word, what is wrong, and what to do."""
    def is_going_on(self, within_s: float) -> bool:
        """Whether its threads go on: each has turned within so many seconds, the log's in ``limits.stuck_after``."""
    def disk_syncs(self) -> tuple[int, int]:
        """Times that the disk was asked to keep what had come since the start, and the microseconds that took."""
    def check(self) -> None:
        """Raises the error that stopped the node by itself, if one did."""
    def metrics_text(self) -> str:
        """Counters in the text format of Prometheus."""
    def cluster_json(self) -> str | None:
        """Where a member of a cluster stands, as JSON; None: a node on its own."""
    def peer_address(self) -> str | None:
        """Where other nodes reach a member of a cluster, with its real port; None: a node on its own."""
    def make_token(self) -> str | None:
        """A token by which one node joins within an hour; None: a node on its own. Only where it leads."""
    def remove_member(self, node: int) -> bool:
        """Takes a node out of the cluster for ever, by its number; False: a node on its own. Only where it leads."""
    def step_down(self, to: int | None = None) -> bool:
        """Lets another node of the cluster serve, by its number or whichever is furthest; False: a node on its own."""
    def streams_json(self) -> str:
        """Every stream, as the body of ``GET /v1/streams``."""
    def groups(
        self, name: str | None, after: str | None, limit: int, bytes_max: int
    ) -> tuple[list[str], int, str | None]:
        """A page of the consumer groups as they are now, by name and filter, behind ``after``: each as JSON, how many
        there are in all, and the ``after`` of the next page. ``name``: of this share name only. The page ends with the
        group with which it has ``bytes_max``."""
    def group_settings_json(self) -> str:
        """The tables of consumer groups in force, in the node's names and units."""
    def put_group(self, name: str, group_json: str) -> None:
        """Takes or replaces the table of a share name or pattern; on an error nothing changes."""
    def remove_group(self, name: str) -> bool:
        """Takes the table of a share name or pattern out; false when there was none."""
    def sessions(
        self,
        prefix: str,
        after: str | None,
        connected: bool | None,
        waiting: bool,
        longest: str | None,
        limit: int,
    ) -> tuple[list[str], str]:
        """A page of sessions, each as JSON, and ``{"matching", "waiting_messages", "waiting_bytes", "next"}``; see
        ``lapwing.http.sessions``."""
    def session(self, client_id: str, queued_max: int) -> tuple[str, list[str], list[str]] | None:
        """One session, its subscriptions, and the head of its queue, each as JSON; None: there is none of this client
        id."""
    def end_session(self, client_id: str) -> bool:
        """Ends a session and its connection; false when there was none. On disk it has ended on return."""
    def kick_client(self, client_id: str) -> bool:
        """Ends a client's connection and leaves its session; false when there was no such connection."""
    def empty_queue(self, client_id: str) -> tuple[int, int] | None:
        """Drops what waits for a session: (messages, bytes); None: there is no such session."""
    def bans(self) -> list[tuple[str, str | None, int, int]]:
        """Who may not log in for now: address, user name (None: whatever the name), wrong passwords, seconds left."""
    def lift_bans(self, address_or_name: str) -> int:
        """Lets an address or a user name log in again, and forgets its failures; how many bans that were."""
    def take_notices(self) -> list[str]:
        """What an operator should hear since the last call, in lines; bounded by kind."""
    def take_log(self) -> list[tuple[str, bool, str, str | None]]:
        """The same with what each line is about, whether that is an alarm, and what is in it by name (JSON); and with
        who came and went."""
    def read_stream(
        self,
        name: str,
        partition: int,
        offset_from: int,
        messages_max: int,
        bytes_max: int,
        reader: str | None = None,
        owner: str | None = None,
        overrides: bool = True,
    ) -> tuple[bytes, int, int, int]:
        """Messages as an Arrow IPC stream: ``(ipc, first_offset kept, next_offset to ask for, end_offset)``.

        ``owner``: whose the name ``reader`` is if it is new, or was nobody's. Another's is refused (``reader_taken``),
        unless ``overrides``."""
    def forget_reader(self, name: str, reader: str) -> bool:
        """Forgets the position of a stream's named reader; false when there was none."""
    def readers(self, name: str) -> list[tuple[str, int, list[tuple[int, int]]]]:
        """A stream's named readers: name, when it read last (milliseconds since the epoch), and (partition,
        offset) pairs."""
    def drain(self, timeout_s: float) -> None:
        """Stops accepting, lets clients go in order, commits what waits."""
    def stop(self) -> None:
        """Ends all threads and closes the log; does nothing when the node does not run. Warns of a hook that
        does not return: its thread is left behind."""

@final
class Client:
    """One connection to a broker; connects when it is made.

    Codes of its ``CoreError``: ``unreachable``, ``tls``, ``websocket``, ``refused``, ``disconnected``, ``rejected``,
    ``protocol`` (these with evidence ``reason``, the reason code, where the broker gave one), ``unpublished`` (messages
    that the broker refused: evidence ``count``, and ``rejections``), ``lost``, ``timed_out``, ``invalid``,
    ``not_connected``.
    """

    def __new__(
        cls,
        url: str,
        client_id: str = "",
        version: int = 5,
        *,
        clean_start: bool = True,
        session_expiry_s: int = 0,
        keep_alive_s: int = 60,
        receive_maximum: int = 1024,
        username: str | None = None,
        password: bytes | None = None,
        will: tuple[str, bytes, int, bool, int] | None = None,
        ca: str | os.PathLike[str] | None = None,
        certificate: str | os.PathLike[str] | None = None,
        key: str | os.PathLike[str] | None = None,
        timeout_s: float = 10.0,
    ) -> Client:
        """Connects and waits for the broker's answer; a will is topic, payload, qos, retain, delay in
        seconds; ``ca``, ``certificate`` and ``key`` are files in PEM."""
    def session_present(self) -> bool:
        """True when the broker still had this client's session."""
    def assigned_client_id(self) -> str | None:
        """The client id the broker chose, if this client came without one."""
    def dropped(self) -> int:
        """QoS 0 messages dropped because nobody took them."""
    def publish(
        self,
        topic: str,
        payload: bytes,
        qos: int = 0,
        retain: bool = False,
        *,
        user_properties: Sequence[tuple[str, str]] = ...,
        content_type: str | None = None,
        response_topic: str | None = None,
        correlation_data: bytes | None = None,
        message_expiry_s: int | None = None,
        packet_id: int | None = None,
        hold: bool = False,
        timeout_s: float = 10.0,
    ) -> int:
        """Sends a message, or with ``hold`` leaves it for the next call that sends; ``flush`` waits for the
        broker's answers. Gives its number."""
    def flush(self, timeout_s: float) -> None:
        """Waits until the broker has answered every publish."""
    def subscribe(
        self,
        filters: Sequence[str],
        qos: int = 0,
        *,
        no_local: bool = False,
        retain_as_published: bool = False,
        retain_handling: int = 0,
        subscription_id: int | None = None,
        timeout_s: float = 10.0,
    ) -> list[int]:
        """Subscribes; gives the granted QoS of each filter."""
    def unsubscribe(self, filters: Sequence[str], *, timeout_s: float = 10.0) -> None:
        """Gives filters up."""
    def receive(
        self, timeout_s: float
    ) -> (
        tuple[
            str,
            bytes,
            int,
            bool,
            bool,
            list[tuple[str, str]],
            str | None,
            str | None,
            bytes | None,
            int | None,
            list[int],
        ]
        | None
    ):
        """Takes (and acknowledges) the next message: topic, payload, qos, retain, dup, user properties,
        content type, response topic, correlation data, message expiry in seconds, subscription
        identifiers; ``None`` when none came in time."""
    def disconnect(
        self, *, with_will: bool = False, session_expiry_s: int | None = None, timeout_s: float = 10.0
    ) -> None:
        """Says goodbye and closes; does nothing when it is closed."""
    def abort(self) -> None:
        """Closes without a word: the broker sends the will."""

class _LinkSettings(TypedDict):
    url: str
    client_id: str
    version: int
    clean_start: bool
    session_expiry_s: int
    ends_session: bool
    keep_alive_s: int
    receive_maximum: int
    username: str | None
    password: bytes | None
    ca: str | os.PathLike[str] | None
    certificate: str | os.PathLike[str] | None
    key: str | os.PathLike[str] | None
    user_properties: list[tuple[str, str]]
    filters: list[str]
    qos: int
    on_receipt: bool
    high: int
    low: int
    high_bytes: int
    window: int
    buffer_messages: int
    buffer_bytes: int
    report_every: int | None
    declaration: str | None
    connect_timeout_s: float
    back_off_s: tuple[float, float]

@final
class Delivery:
    """A message that a consumer has taken and will acknowledge or refuse. Fields are made when they are read."""

    @property
    def topic(self) -> str:
        """Where it was published."""
    @property
    def payload(self) -> bytes:
        """What was published."""
    @property
    def qos(self) -> int:
        """The quality it came with, 0 to 2."""
    @property
    def retain(self) -> bool:
        """It was retained."""
    @property
    def dup(self) -> bool:
        """The broker may have sent it before."""
    @property
    def user_properties(self) -> list[tuple[str, str]]:
        """User properties in order; names may repeat (5.0)."""
    @property
    def content_type(self) -> str | None:
        """What the payload is (5.0)."""
    @property
    def response_topic(self) -> str | None:
        """Where to answer (5.0)."""
    @property
    def correlation_data(self) -> bytes | None:
        """What to answer with (5.0)."""
    @property
    def message_expiry_s(self) -> int | None:
        """Seconds it has left (5.0)."""
    def user_property(self, name: str) -> str | None:
        """The first value of the user property ``name``, or ``None`` (5.0)."""

@final
class Link:
    """A connection that a thread of its own keeps: bounded buffers both ways, made again when it breaks.

    Codes of its ``CoreError`` are those of ``Client``.
    """

    def __new__(cls, settings: _LinkSettings) -> Link:
        """Starts connecting; ``wait_up`` tells how that went."""
    def wait_up(self, timeout_s: float) -> bool:
        """Waits until it is connected and subscribed; false when the time is over. Raises what ended it."""
    def take(self, most: int, timeout_s: float, linger_s: float = 0.0) -> list[Delivery]:
        """Takes up to ``most`` messages: waits for the first, then up to ``linger_s`` for the others."""
    def turn(self, finished: Delivery | None, timeout_s: float) -> Delivery | None:
        """Finishes one message, if given, and takes the next; ``None`` when none came in time."""
    def is_dry(self) -> bool:
        """True once nothing waits and nothing more will come; raises what ended the connection."""
    def finish(self, deliveries: Sequence[Delivery]) -> None:
        """Says that the work on them is done: they are acknowledged."""
    def refuse(self, deliveries: Sequence[Delivery], reason: int, words: str) -> None:
        """Refuses them with a reason code of 0x80 and above and words for people."""
    def leave(self, deliveries: Sequence[Delivery]) -> None:
        """Leaves them unanswered: they come again."""
    def publish(
        self,
        topic: str,
        payload: bytes,
        qos: int = 0,
        retain: bool = False,
        *,
        user_properties: Sequence[tuple[str, str]] = ...,
        content_type: str | None = None,
        response_topic: str | None = None,
        correlation_data: bytes | None = None,
        message_expiry_s: int | None = None,
        timeout_s: float = 0.0,
    ) -> int | None:
        """Hands a message over and gives its number, 1 for the first; ``None`` when there was no room in time."""
    def flush(self, timeout_s: float) -> bool:
        """Waits until everything published is answered; false when the time is over. Raises for what was refused."""
    def rejections(self) -> list[tuple[int, str, int, str]]:
        """What was refused since the last call, of this or of ``flush``: number, topic, reason code, words of each."""
    def report(self) -> None:
        """Tells the broker how things stand."""
    def declare(self, declaration: str) -> None:
        """Declares what this consumer is: a JSON object, as a report."""
    def drain(self) -> None:
        """Takes in no more; what waits can still be taken."""
    def close(self, timeout_s: float) -> bool:
        """Sends and waits for answers, says goodbye and closes; true when everything was answered."""
    def abort(self) -> None:
        """Closes without a word."""
    def counters(self) -> dict[str, Any]:
        """How things stand, and what was counted."""
    def fileno(self) -> int:
        """A descriptor that becomes readable when there is news; then call ``heard``."""
    def heard(self) -> None:
        """The next news makes the descriptor readable again."""

@final
class Swarm:
    """One process's part of a load run: made, it starts its threads and its clients come in.

    Codes of its ``CoreError``, and of ``Sink`` and ``Fleet``: ``profile`` (a wrong setting), ``files`` (more
    clients than this process may have open files), ``unreachable``, ``rejected``, ``timed_out``, ``system``,
    ``usage``, ``defect``.
    """

    def __new__(cls, profile_json: str) -> Swarm:
        """Reads and checks the profile and starts."""
    def is_ready(self) -> bool:
        """True when every client is connected and subscribed; raises for the first that cannot."""
    def go(self, start_ns: int | None = None) -> None:
        """Lets the messages begin, at ``start_ns`` of the monotonic clock or at once."""
    def progress_json(self) -> str:
        """How far it is: an object of counters."""
    def wait(self, timeout_s: float) -> bool:
        """Waits for the end (everything has arrived, or nothing more will), up to so long; true when it is over.

        One of several processes is over only when it cannot go on: the others may still send it something.
        """
    def cancel(self) -> None:
        """Publishes no more; what is under way may still arrive."""
    def finish_json(self) -> str:
        """Ends and gives the raw figures, for ``swarm_report_json``."""

def swarm_report_json(profile_json: str, outcomes_json: Sequence[str]) -> str:
    """One report from the raw figures of every process of a run."""

def monotonic_ns() -> int:
    """The monotonic clock in nanoseconds, the same in every process of this machine."""

@final
class Sink:
    """A server that takes everything and keeps nothing: the other end when the swarm itself is measured."""

    def __new__(
        cls,
        host: str = "127.0.0.1",
        port: int = 0,
        *,
        echo: bool = False,
        cut_every: int | None = None,
        spin: bool = False,
        pin: int | None = None,
    ) -> Sink:
        """Listens; ``echo`` sends QoS 0 back, ``cut_every`` breaks connections, ``spin`` never sleeps."""
    def url(self) -> str:
        """Where it listens."""
    def figures_json(self) -> str:
        """What it has taken in: ``connections``, ``publishes``, ``publish_bytes``."""
    def stop(self) -> None:
        """Ends it; does nothing when it has ended."""

@final
class Fleet:
    """Devices that publish what the caller supplies, when the caller says."""

    def __new__(cls, config_json: str) -> Fleet:
        """Reads and checks the configuration and starts the threads; devices begin to connect."""
    def joined(self) -> int:
        """Devices that should be connected before the start; compare with ``online`` of the counts."""
    def counts_json(self) -> str:
        """The counters as of now."""
    def go(self, start_ns: int | None = None) -> None:
        """Time 0 of the schedule: ``start_ns`` of the monotonic clock, or now."""
    def offer(
        self,
        devices: Buffer | Sequence[int],
        due_us: Buffer | Sequence[int],
        payloads: Sequence[bytes],
        *,
        qos: int = 1,
        retain: bool = False,
        timeout_s: float = 60.0,
    ) -> int:
        """Hands messages over (columns, equally long: int32, int64, bytes); waits while the queue is full.

        Gives how many were taken, from the front, before ``timeout_s``; offer the rest again.
        """
    def move_devices(
        self,
        devices: Buffer | Sequence[int],
        due_us: Buffer | Sequence[int],
        kinds: Sequence[str],
        *,
        timeout_s: float = 60.0,
    ) -> int:
        """Devices come and go: kinds are "join", "leave" (orderly) and "drop" (the connection breaks until a
        "join")."""
    def finish_json(self, timeout_s: float) -> str:
        """Waits until all is done, nothing more can happen, or ``timeout_s``; says goodbye; gives the
        report."""
