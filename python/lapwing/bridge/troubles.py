"""What librdkafka says of its connections, as one line for the operator: what is wrong, where, and what to do."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable
from typing import NamedTuple

from confluent_kafka import KafkaError

from lapwing.bridge.certificate_check import problem_of_certificate, speaks_tls
from lapwing.bridge.kafka_settings import Settings, in_our_words

_AGAIN_S = 10.0
"""A server that was asked in vain is asked again after so long: it, or this machine, may only have been busy."""
_ASKED_MAX = 3
"""So often, then it stays at what is known: the lane stands still while a server is asked."""


class Troubles:
    """What is wrong with the connections of one client. For the thread that its callbacks come in.

    librdkafka tells many things about one failure, each once in a while: that the handshake failed, that all servers
    are down, that another address of the same name refused. The one that tells most is kept until `forget`.

    Args:
        settings: Of the client.
        now: The clock, in seconds.
    """

    def __init__(self, settings: Settings, now: Callable[[], float] = time.monotonic) -> None:
        self._settings = settings
        self._now = now
        self.forget()

    def note(self, error: KafkaError) -> None:
        """An error as librdkafka gives it; of two that tell as much, and the same, the first stays."""
        rank = _rank(error)
        if rank > self._rank or (rank == self._rank and error.code() != self._code):
            self._become(rank, error.code(), _PASSING.sub("", error.str()))

    def forget(self) -> None:
        """It is over: what is wrong next is something else."""
        self._become(0, 0, "")

    def _become(self, rank: int, code: int, text: str) -> None:
        self._rank, self._code, self._text, self._words = rank, code, text, ""
        self._asked, self._ask_at = 0, -math.inf

    @property
    def is_refusal(self) -> bool:
        """Somebody answers, and does not take us: it will hardly be over by itself."""
        return self._rank >= _REFUSAL

    @property
    def words(self) -> str:
        """What is wrong, where, and what to do, without secrets; empty: nothing is known.

        Where librdkafka does not say why (a certificate is not accepted, a server speaks TLS), Kafka is asked once
        more, which may take four seconds a server. If that tells nothing, it is asked again, seldom and not for ever.
        """
        if self._text and self._now() >= self._ask_at:
            is_silent = self._code == KafkaError._ALL_BROKERS_DOWN
            said = _silent(self._settings) if is_silent else _explained(self._text, self._settings)
            self._words = said.words
            self._asked += 1
            is_enough = said.is_known or self._asked == _ASKED_MAX
            self._ask_at = math.inf if is_enough else self._now() + _AGAIN_S
        return self._words

    @property
    def guess(self) -> str:
        """What `words` said last, if the server was asked in vain and it may say more later; else empty."""
        return self._words if self._ask_at < math.inf else ""


class _Said(NamedTuple):
    """What is told of a trouble."""

    words: str
    is_known: bool = True
    """False: a server was asked about it, and that told nothing."""


_PASSING = re.compile(r" \(after -?\d+ms in state \w+(, \d+ identical error\(s\) suppressed)?\)$")
"""Differs each time, so the same trouble would be told again and again."""
_PLACE = re.compile(r"^(?:[a-z_]+://)?(?P<server>\[[^\]]+\]:\d+|[^/\s:]+:\d+)/\S+: ")
_NETWORK = frozenset((KafkaError._TRANSPORT, KafkaError._RESOLVE, KafkaError._TIMED_OUT))
_HANDSHAKE = ("SSL handshake failed", "alert", "security.protocol")
"""Told under the code of a broken connection."""
_REFUSAL = 3


def _rank(error: KafkaError) -> int:
    """How much it tells: next to nothing, that nobody answers, that somebody refuses, that the client is at its end."""
    if error.fatal():
        return _REFUSAL + 1
    if error.code() == KafkaError._ALL_BROKERS_DOWN:
        return 1
    is_handshake = any(mark in error.str() for mark in _HANDSHAKE)
    return 2 if error.code() in _NETWORK and not is_handshake else _REFUSAL


_NOT_TLS = ("connecting to a PLAINTEXT", "wrong version number", "packet length too long")
_REFUSED_CERTIFICATE = ("alert certificate", "alert bad certificate", "alert unknown ca", "client SSL authentication")
_SET_TLS = 'set bridge.kafka.security to "tls" or "sasl-tls"'
_SERVERS_ASKED_MAX = 3


def _explained(text: str, settings: Settings) -> _Said:
    place = _PLACE.match(text)
    if place is None:
        return _Said(in_our_words(text, settings))
    server = place["server"]
    if "certificate verify failed" in text:
        problem = problem_of_certificate(server, str(settings.get("ssl.ca.location", "")))
        return _Said(f"Kafka at {server}: {_certificate_words(problem)}", is_known=bool(problem))
    meaning = _meaning(text, settings)
    return _Said(f"Kafka at {server} {meaning}" if meaning else in_our_words(text, settings))


def _meaning(text: str, settings: Settings) -> str:
    """What a handshake means that failed, and what to do; empty: this is something else."""
    if not _wants_tls(settings):
        is_tls = "connecting to a SSL listener" in text
        return f"ended the connection at the first request; if it speaks TLS, {_SET_TLS}" if is_tls else ""
    if any(mark in text for mark in _NOT_TLS):
        return "does not speak TLS; give the port for TLS, or correct bridge.kafka.security"
    if any(mark in text for mark in _REFUSED_CERTIFICATE):
        if "ssl.certificate.location" in settings:
            return "does not accept the certificate of bridge.kafka.certificate; its log says why"
        return "wants a certificate; give bridge.kafka.certificate and bridge.kafka.key"
    return ""


def _silent(settings: Settings) -> _Said:
    """Servers that take connections and end them: librdkafka gives no reason when they speak TLS and it does not."""
    servers = str(settings["bootstrap.servers"])
    may_be_tls = not _wants_tls(settings)
    if may_be_tls:
        for server in servers.split(",")[:_SERVERS_ASKED_MAX]:
            if speaks_tls(server):
                return _Said(f"Kafka at {server} speaks TLS; {_SET_TLS}")
    what = f"no connection to Kafka at {servers} lasts; is it there, and does it speak what bridge.kafka.security says?"
    return _Said(what, is_known=not may_be_tls)


def _wants_tls(settings: Settings) -> bool:
    return "SSL" in str(settings["security.protocol"])


def _certificate_words(problem: str) -> str:
    """Why its certificate is not accepted, and what to do; ``problem`` is empty where that is not known."""
    what = f"its certificate is not accepted: {problem}" if problem else "its certificate is not accepted"
    authority = "name the authority that signed it in bridge.kafka.ca and start the bridge again"
    name = "give a name that is in it, in bridge.kafka.bootstrap and in Kafka's advertised.listeners"
    if "mismatch" in problem:
        return f"{what}; {name}"
    if "expired" in problem or "not yet valid" in problem:
        return f"{what}; renew it, or set this machine's clock"
    return f"{what}; {authority}" if problem else f"{what}; {authority}, or {name}"
