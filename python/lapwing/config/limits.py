"""Every limit of the node with its default, under the node's own names (its ``crates/node/src/config/limits.rs``).

Units differ in one way: here a time is a duration with its unit (``connect_timeout = "10s"``), there it is a
number whose name ends in ``_ms`` or ``_s``. A test compares every name and default with the node's source.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from lapwing.config.units import Duration, Seconds, Size

_U16 = 65_535
_U32 = 2**32 - 1
PACKET_BYTES_MAX = 255 << 20
"""256 MiB is the end of MQTT, and a message grows on its way (limits/check.rs)."""

Count16 = Annotated[int, Field(ge=1, le=_U16)]
Count32 = Annotated[int, Field(ge=1, le=_U32)]
Bytes32 = Annotated[Size, Field(ge=1, le=_U32)]


class Limits(BaseModel):
    """What one packet, one client, one session and the whole broker may take up."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    connections_max: Count32 = 100_000
    """Connections of the whole broker; one more is closed at once and counted."""
    connect_timeout: Duration = Field(default=10_000, ge=1, serialization_alias="connect_timeout_ms")
    """Time from the accepted connection to its complete CONNECT."""
    connect_bytes_max: Size = Field(default=64 << 10, ge=64, le=PACKET_BYTES_MAX)
    """Largest CONNECT, its will included; never more than packet_bytes_max."""
    strangers_max: Count32 = 16_384
    """Connections that are no clients yet; beyond, the oldest of the address with most ends. Up to connections_max."""
    strangers_per_address_max: Count32 = 4_096
    """The same of one address (IPv6: of one /64); never more than three quarters of strangers_max."""
    strangers_bytes_max: Size = Field(default=32 << 20, ge=1)
    """Memory for what they have sent, apart from memory_high_bytes and never more than a quarter of it."""

    handshake_threads: int = Field(default=0, ge=0, le=64)
    """Threads that do TLS handshakes. 0: one for every four shards."""
    handshakes_max: Count32 = 2048
    """TLS handshakes that may be unfinished; the oldest goes for one more. Up to connections_max / 4."""
    handshakes_per_address_max: Count32 = 256
    """TLS handshakes that may be unfinished of one source: an IPv4 address, or the /64 of an IPv6 one."""
    password_checks_max: Count32 = 1024
    """Passwords that wait to be checked; beyond, the address with the most waiting is refused one of them."""
    http_checks_max: Count32 = 1024
    """Requests over HTTP whose credentials are being checked, and as many of which `auth.http` is asked; more: 503."""
    http_checks_per_address_max: Count32 = 64
    """The same of one source: an IPv4 address, or the /64 of an IPv6 one. A proxy's clients have one together."""
    password_threads: int = Field(default=0, ge=0, le=256)
    """Threads that check passwords, behind the data threads where cores are short; 0: one for every two cores."""

    packet_bytes_max: Size = Field(default=1 << 20, ge=64, le=PACKET_BYTES_MAX)
    """Largest packet a client may send: beyond, MQTT 5 is closed with 0x95, a message of 3.1.1 dropped alone."""
    topic_bytes_max: Size = Field(default=1024, ge=1, le=_U16)
    """Longest topic name or filter. A message beyond is refused alone (0x90), a filter in the SUBACK (0x8F)."""
    topic_levels_max: Count16 = 64
    """Most levels of a topic name or filter, refused likewise."""
    filters_per_packet_max: int = Field(default=0, ge=0, le=_U32)
    """Filters of one SUBSCRIBE that are granted; those beyond are refused in the SUBACK. 0: all that fit."""
    user_properties_max: int = Field(default=64, ge=0, le=_U16)
    """Most user properties of a CONNECT, a will or a message, which is refused alone (0x83)."""
    client_id_bytes_max: Size = Field(default=256, ge=1, le=_U16)
    """Longest client id."""
    subscriptions_per_session_max: int = Field(default=10_000, ge=0, le=_U32)
    """Subscriptions of one session, as many as fit in one SUBSCRIBE of packet_bytes_max."""
    groups_per_session_max: int = Field(default=1000, ge=0, le=_U32)
    """Consumer groups that one session may be a member of; 0: as many as it may have subscriptions."""
    groups_per_identity_max: int = Field(default=0, ge=0, le=_U32)
    """Consumer groups that clients of one identity have begun; the anonymous are one together; 0: any number."""
    sessions_per_identity_max: int = Field(default=0, ge=0, le=_U32)
    """Sessions of one identity, connected or kept; one more is refused (0x97); the anonymous are one; 0: any number."""

    retained_messages_per_identity_max: int = Field(default=0, ge=0, le=_U32)
    """Retained messages that clients of one identity have published last; one more is not kept (0x97); the anonymous
    are one; 0: any number."""
    retained_bytes_per_identity_max: Size = 0
    """Bytes of them; 0: any."""
    held_times_free_max: int = Field(default=9, ge=0, le=_U32)
    """Who has more than so many times what is free of all connections, sessions without one, groups or retained
    messages gets no more of them (0x97): a user, or without one an address or client. 9: nine tenths. 0: any."""

    keep_alive_max: Seconds = Field(default=0, le=_U16, serialization_alias="keep_alive_s_max")
    """Longest keep alive; a client that asks for more (or none) has this one, and is told so in 5.0. 0: no bound."""
    tcp_keep_alive: Seconds = Field(default=600, le=32_767, serialization_alias="tcp_keep_alive_s")
    """Silence of a TCP connection after which the kernel asks whether its peer is still there. 0: never."""
    tcp_keep_alive_interval: Seconds = Field(
        default=60, ge=1, le=32_767, serialization_alias="tcp_keep_alive_interval_s"
    )
    """Time between such questions, while none is answered."""
    tcp_keep_alive_probes: int = Field(default=5, ge=1, le=127)
    """Questions without an answer after which the connection is over."""
    connection_idle_max: Duration = Field(default=0, serialization_alias="connection_idle_ms_max")
    """Time for which a connection may carry no PUBLISH, SUBSCRIBE or UNSUBSCRIBE, either way; then it ends with 0xA0,
    and its session lives on. Pings do not count; what its client has not acknowledged keeps it. 0: no bound."""
    message_expiry_default: Seconds = Field(default=0, le=_U32, serialization_alias="message_expiry_s_default")
    """Message Expiry Interval of messages without one; 0: they do not expire. `[topics]` may say another."""
    message_expiry_max: Seconds = Field(default=0, le=_U32, serialization_alias="message_expiry_s_max")
    """Longest Message Expiry Interval, also of messages without one; a longer one is lowered. 0: no bound. `[topics]`
    may say another."""
    session_expiry_max: Seconds = Field(default=7 * 24 * 3600, le=_U32, serialization_alias="session_expiry_s_max")
    """Longest session expiry granted."""
    session_expiry_v311: Seconds = Field(default=24 * 3600, le=_U32, serialization_alias="session_expiry_s_v311")
    """Expiry of a 3.1.1 session with clean session 0, which cannot name one; up to session_expiry_max."""
    sessions_offline_max: int = Field(default=100_000, ge=0, le=_U32)
    """Sessions without a connection; the one that would be one more ends at once."""

    receive_maximum: Count16 = 1024
    """QoS 1 and 2 messages that a client may have unacknowledged towards the broker."""
    inflight_messages_max: Count16 = 1024
    """QoS 1 and 2 messages that the broker has unacknowledged towards one client."""
    bridge_inflight_messages_max: Count16 = 20
    """The same towards a bridge of level 0x83 or 0x84, which cannot say how many it takes: Mosquitto's default."""
    topic_alias_max: int = Field(default=64, ge=0, le=_U16)
    """Topic aliases that a client may use."""
    topic_alias_sent_max: int = Field(default=16, ge=0, le=_U16)
    """Topic aliases that the broker uses towards a client that allows so many, where they save bytes. 0: none."""
    mqtt31: bool = True
    """MQTT 3.1 (`MQIsdp`) is served; if not, its CONNECT is refused with return code 1."""
    mqtt_bridges: bool = True
    """Other brokers may come as bridges: with their state under `$SYS/broker/connection`, and by level 0x83 or 0x84
    without messages of their own and with retain as published. Where there are rules: who has the right `bridge`."""
    queue_messages_max: int = Field(default=1_000_000, ge=0, le=_U32)
    """Messages waiting for one session: each takes 8 bytes of memory, wherever it waits."""
    queue_bytes_max: Size = 64 << 20
    """Bytes waiting for one session, on disk where it is kept there; an empty queue takes one message of any size."""
    queue_policy: Literal["drop-oldest", "drop-newest", "refuse", "disconnect"] = "drop-oldest"
    """What happens to a message that finds a session's queue full; "refuse": 0x97 to its 5.0 publisher, and nobody has
    it; that of another is dropped; "disconnect": the client is, with 0x97; while it is away the message is dropped."""
    queue_age_max: Duration = Field(default=0, serialization_alias="queue_age_ms_max")
    """Time for which a message may wait for one session; then it is dropped and not sent. 0: no bound."""
    queue_memory_bytes: Size = Field(default=256 << 20, ge=1)
    """Memory for what waits for sessions on disk: messages about to be sent, and 8 bytes for each that waits there."""

    messages_per_s_max: int = Field(default=0, ge=0, le=_U32)
    """PUBLISH packets that one client may send in a second; beyond, it is not read for a while; 0: any."""
    bytes_per_s_max: Size = 0
    """Bytes that one client may send in a second; beyond, it is not read for a while; 0: any."""
    rate_burst: Duration = Field(default=1_000, ge=1, le=3_600_000, serialization_alias="rate_burst_ms")
    """How long a silent client saves up for a burst: so much of its two rates it may send at once."""

    memory_high_bytes: Size = 0
    """Memory of clients and messages from which new connections (0x97) and QoS 0 messages are refused; 0: three
    quarters of what the process may have."""
    memory_max_bytes: Size = 0
    """Memory from which nothing more is kept for clients that do not take it; 0: a sixth above memory_high_bytes."""

    output_high_bytes: Bytes32 = 1 << 20
    """Output buffer of one connection from which QoS 0 messages are dropped for it."""
    output_bytes_max: Bytes32 = 8 << 20
    """Output buffer at which a connection is closed; the largest packet in it does not count."""
    output_stall: Duration = Field(default=30_000, ge=1, serialization_alias="output_stall_ms")
    """Time for which a connection may stay above output_high_bytes without taking a byte."""
    close_linger: Duration = Field(default=1_000, le=60_000, serialization_alias="close_linger_ms")
    """Time for which a connection that the broker has ended is still read, so that its last words arrive. 0: none."""
    takeover_wait: Duration = Field(default=1_000, le=60_000, serialization_alias="takeover_wait_ms")
    """Time that a CONNECT waits for what its client has sent before, on its former connection, and may not be read yet;
    never more than half of connect_timeout. 0: none."""

    retained_messages_max: int = Field(default=1_000_000, ge=0, le=2**63 - 1)
    """Retained messages of the whole broker."""
    retained_bytes_max: Size = 1 << 30
    """Bytes of retained messages of the whole broker; never more than half of memory_high_bytes."""

    mailbox_batches: int = Field(default=64, ge=1, le=65_536)
    """Batches in a mailbox between two shards; the places for them are taken at the start."""
    mailbox_batch_messages: Count32 = 1024
    """Messages in one such batch."""
    mailbox_batch_bytes: Bytes32 = 256 << 10
    """Bytes in one such batch."""
    log_lane_bytes: Size = Field(default=32 << 20, ge=1)
    """Bytes one shard may have waiting for the log before publishers of what is kept are not read."""
    log_snapshot_bytes: Size = Field(default=1 << 20, ge=1)
    """Bytes that come to one of the 16 data groups before its state, where that is no larger, is written anew.

    16 times as many within ten seconds of the last time."""
    log_segment_bytes: Size = Field(default=64 << 20, ge=64 << 10, le=1 << 30)
    """Size of a segment file of the data groups' log, 64KiB to 1GiB: what is given back to the disk at a time."""
    stall_after: Duration = Field(default=5_000, ge=1, serialization_alias="stall_after_ms")
    """Time for a write or sync of the log, or a turn of a data thread; beyond, /readyz is 503 and a line says why."""
    stuck_after: Duration = Field(default=600_000, ge=1, serialization_alias="stuck_after_ms")
    """Time for a write or sync of the log, beyond which systemd's watchdog gets no more sign of life."""
    read_bytes_per_turn: Bytes32 = 256 << 10
    """Bytes that one connection's read may bring in one turn of the loop."""
    spin_us: int = Field(default=20, ge=0, le=1_000_000)
    """Microseconds an idle shard looks for work before it sleeps, while there is traffic between shards."""

    notices_per_minute: Count32 = 60
    """Notices of one kind that are printed in a minute; how many more there were is said, and counted by kind.

    Alarms of the broker itself ten times as many."""
