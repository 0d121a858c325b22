"""Bounds that rows of limits share: other limits, or what follows from a whole configuration."""

from __future__ import annotations

from lapwing.config.limit_pair import BoundRule, When

CONNECT_BYTES = 16
"""A CONNECT of 5.0 around its client id."""
PUBLISH_BYTES = 10
"""A PUBLISH of 5.0 around its topic, without payload."""
_USER_PROPERTY_BYTES = 5
"""The shortest one: its identifier, and two empty strings with their lengths."""
_FILTER_BYTES = 4
"""The shortest filter in a SUBSCRIBE: its length, one character, its options."""
_OWN_BRIDGE = When("own_bridge", "bridge")
_MEMORY = ("limits.memory_high_bytes", "limits.memory_max_bytes")
"""What there is for clients and messages: the first is never above the second."""


def other(
    key: str, words: str = "", *, times: int = 1, over: int = 1, plus: int = 0, rounds_up: bool = False
) -> BoundRule:
    """Another limit, or what follows from it; nothing where that one is 0."""
    return BoundRule("first", (key,), f"{words}{{key}} = {{shown}}", times, over, plus, rounds_up)


def memory(over: int = 1, words: str = "", *when: When) -> BoundRule:
    """So much of the memory that there is for clients and messages."""
    return BoundRule("first", _MEMORY, f"{words}{{key}} = {{shown}}", over=over, when=when)


def packet_room(besides: int = 0) -> BoundRule:
    """What is left of the largest packet, ``besides`` what else is in it."""
    more = " and what is in a packet" if besides else ""
    return BoundRule("largest_packet", words=f"packet_bytes_max = {{shown}}{more}", plus=-besides)


def fits_in_packet(each_bytes: int) -> BoundRule:
    """How many things of that size fit in the largest packet."""
    words = f"what fits in packet_bytes_max = {{shown}}, {each_bytes} bytes for each"
    return BoundRule("largest_packet", words=words, over=each_bytes)


def own_bridge(key: str) -> BoundRule:
    """A limit that the bridge of the same file meets, where it connects to this broker, as far as its port tells."""
    return other(key)._replace(when=(_OWN_BRIDGE,))


def time_to_connect(key: str) -> BoundRule:
    """How long a CONNECT may take, where somebody outside has to say something to it."""
    return other("limits.connect_timeout")._replace(when=(When("set", key),))


_RETAINS = (When("above_zero", "limits.retained_bytes_max"), When("above_zero", "limits.retained_messages_max"))
MEMORY_OF_ONE = (
    memory(2, "half of ", *_RETAINS)._replace(words="half of {key} = {shown}, all that is retained"),
    memory(),
)
"""What one packet may be, so that it leaves memory for others, and finds room among what is retained."""
MEMORY_IN_MEMORY = memory(1, "", When("is", "broker.durability", "memory"))
"""What waits takes memory where it is not on disk."""
SUBSCRIPTIONS = BoundRule(
    "sum", ("limits.subscriptions_per_session_max",), "limits.subscriptions_per_session_max = {value}"
)
FILTERS = fits_in_packet(_FILTER_BYTES)
USER_PROPERTIES = fits_in_packet(_USER_PROPERTY_BYTES)
ASKED_FOR_NOTES = BoundRule(
    "sum",
    words='the one with which clients ask, envelope.stamp = "always"',
    plus=1,
    when=(When("is", "envelope.stamp", "always"),),
)
"""The user property with which clients ask for stamps, where that is meant."""
PLACES = BoundRule(
    "sum",
    ("limits.connections_max", "limits.sessions_offline_max"),
    "limits.connections_max + limits.sessions_offline_max = {value}",
)
"""All sessions that there may be."""
CONNECT_ROOM = BoundRule(
    "sum",
    ("limits.client_id_bytes_max",),
    f"limits.client_id_bytes_max = {{value}} and {CONNECT_BYTES} bytes around it",
    plus=CONNECT_BYTES,
)
TOKEN_ROOM = BoundRule(
    "first",
    ("limits.connect_bytes_max",),
    "what {key} = {shown} leaves for it",
    plus=-CONNECT_BYTES,
    when=(When("set", "auth.jwt.algorithms"),),
)
"""What a token in a CONNECT may have."""
DECLARED = BoundRule("entries", ("groups.*.filters.*",), "the {value} groups that are declared under [groups]")
DEEPEST_TOPIC = BoundRule("topic_levels", words="the {value} levels of topics that match {where}")
LONGEST_TOPIC = BoundRule("topic_bytes", words="the {value} bytes of topics that match {where}")
RESPONSE_TOPIC = BoundRule(
    "sum",
    ("broker.response_information_prefix", "limits.client_id_bytes_max"),
    "the {0} bytes of broker.response_information_prefix and limits.client_id_bytes_max = {1}",
)
"""The bytes of the longest topic that clients are told to have answers sent to."""
LONGEST_EXPIRY = BoundRule("longest_expiry", words="message_expiry_max = {shown} of {where}")
