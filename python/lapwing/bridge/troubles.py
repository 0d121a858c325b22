"""What librdkafka says of its connections, as one line for the operator: what is wrong, where, and what to do."""

from __future__ import annotations

import re

from confluent_kafka import KafkaError

from lapwing.bridge.certificate_check import problem_of_certificate, speaks_tls
from lapwing.bridge.kafka_settings import Settings, in_our_words


class Troubles:
    """What is wrong with the connections of one client. For the thread that its callbacks come in.

    librdkafka tells many things about one failure, each once in a while: that the handshake failed, that all servers
    are down, that another address of the same name refused. The one that tells most is kept until `forget`.

    Args:
        settings: Of the client.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._text = self._words = ""
        self._rank = self._code = 0

    def note(self, error: KafkaError) -> None:
        """An error as librdkafka gives it; of two that tell as much, and the same, the first stays."""
        rank = _rank(error)
        if rank > self._rank or (rank == self._rank and error.code() != self._code):
            self._rank, self._code = rank, error.code()
            self._text, self._words = _PASSING.sub("", error.str()), ""

    def forget(self) -> None:
        """It is over: what is wrong next is something else."""
        self._text = self._words = ""
        self._rank = self._code = 0

    @property
    def is_refusal(self) -> bool:
        """Somebody answers, and does not take us: it will hardly be over by itself."""
        return self._rank >= _REFUSAL

    @property
    def words(self) -> str:
        """What is wrong, where, and what to do, without secrets; empty: nothing is known.

        Where librdkafka does not say why (a certificate is not accepted, a server speaks TLS), Kafka is asked once
        more, which may take four seconds a server.
        """
        if self._text and not self._words:
            is_silent = self._code == KafkaError._ALL_BROKERS_DOWN
            self._words = _silent(self._settings) if is_silent else _explained(self._text, self._settings)
        return self._words


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


def _explained(text: str, settings: Settings) -> str:
    place = _PLACE.match(text)
    if place is None:
        return in_our_words(text, settings)
    server = place["server"]
    if "certificate verify failed" in text:
        return f"Kafka at {server}: {_certificate_words(server, settings)}"
    meaning = _meaning(text, settings)
    return f"Kafka at {server} {meaning}" if meaning else in_our_words(text, settings)


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


def _silent(settings: Settings) -> str:
    """Servers that take connections and end them: librdkafka gives no reason when they speak TLS and it does not."""
    servers = str(settings["bootstrap.servers"])
    if not _wants_tls(settings):
        for server in servers.split(",")[:_SERVERS_ASKED_MAX]:
            if speaks_tls(server):
                return f"Kafka at {server} speaks TLS; {_SET_TLS}"
    return f"no connection to Kafka at {servers} lasts; is it there, and does it speak what bridge.kafka.security says?"


def _wants_tls(settings: Settings) -> bool:
    return "SSL" in str(settings["security.protocol"])


def _certificate_words(server: str, settings: Settings) -> str:
    """Why its certificate is not accepted, and what to do."""
    problem = problem_of_certificate(server, str(settings.get("ssl.ca.location", "")))
    what = f"its certificate is not accepted: {problem}" if problem else "its certificate is not accepted"
    authority = "name the authority that signed it in bridge.kafka.ca and start the bridge again"
    name = "give a name that is in it, in bridge.kafka.bootstrap and in Kafka's advertised.listeners"
    if "mismatch" in problem:
        return f"{what}; {name}"
    if "expired" in problem or "not yet valid" in problem:
        return f"{what}; renew it, or set this machine's clock"
    return f"{what}; {authority}" if problem else f"{what}; {authority}, or {name}"
