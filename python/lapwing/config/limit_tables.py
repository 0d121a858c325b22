"""Limits that contradict each other in tables that a configuration may have many of: rows for each of them."""

from __future__ import annotations

from lapwing.config.limit_pair import ONE_PACKET, SHORT, Pair, When, least, most
from lapwing.config.limit_rules import LONGEST_EXPIRY, MEMORY_OF_ONE, memory, other

TABLE_PAIRS: tuple[Pair, ...] = (
    most("listeners.@.connections_max", other("limits.connections_max"), "it has no effect", zero_is_any=True),
    most("listeners.@.packet_bytes_max", MEMORY_OF_ONE, ONE_PACKET),
    least(
        "streams.@.retain_bytes",
        other("streams.@.segment_bytes"),
        "whole segments are deleted, so the stream would always be larger",
        zero_is_any=True,
    ),
    # What waits in these is in memory, whatever is kept on disk of it besides.
    most("hold.@.bytes", memory(), SHORT),
    most("hold.@.expiry", LONGEST_EXPIRY, "messages would expire before", zero_is_any=True),
    most("groups.@.queue_bytes_max", memory(), SHORT),
    most("groups.@.workers", other("limits.inflight_messages_max"), "a member is never sent so many"),
    most(
        "topics.@.message_expiry_default",
        (
            other("topics.@.message_expiry_max")._replace(when=(When("set", "topics.@.message_expiry_max"),)),
            # A wider table in between may say another, so then neither.
            other("limits.message_expiry_max")._replace(when=(When("unset", "topics.*.message_expiry_max"),)),
        ),
        "it would be lowered",
    ),
)
"""A row for each listener, stream, hold, group and table of topics."""
