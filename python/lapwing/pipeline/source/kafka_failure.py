"""What Kafka's Java client has thrown, as an error of ours: what is wrong, where, and what to do. Pure."""

from __future__ import annotations

from lapwing.errors import ConfigError, ConnectError, LapwingError, StreamError, StreamUnknownError

_REFUSALS = ("AuthenticationException", "AuthorizationException", "SslAuthenticationException", "SecurityException")
_NOT_MADE = ("Failed to create new KafkaAdminClient", "Failed to construct kafka")
_CHARACTERS_MAX = 300
_FILE = "the file of --conf lapwing.client_config"
_WANTS_CERTIFICATE = f"Kafka wants a certificate that it knows: give ssl.keystore.location, with the key, in {_FILE}"
_NOT_TRUSTED = f"name the authority that signed Kafka's certificate in ssl.truststore.location, in {_FILE}"
_OTHER_NAME = "give a name that is in Kafka's certificate, in the source and in Kafka's advertised.listeners"
_TLS_REMEDIES = {
    "No subject alternative": _OTHER_NAME,
    "No name matching": _OTHER_NAME,
    "unable to find valid certification path": _NOT_TRUSTED,
    "PKIX path": _NOT_TRUSTED,
    "certificate_required": _WANTS_CERTIFICATE,
    "bad_certificate": _WANTS_CERTIFICATE,
    "unknown_ca": _WANTS_CERTIFICATE,
}
"""By what Java says of a handshake; where several are said, the first is it."""


def kafka_error(said: str, where: str, topic: str) -> LapwingError:
    """The error.

    Args:
        said: What was thrown, with its causes, as Java prints it. Kafka leaves settings and secrets out.
        where: The source.
        topic: The topic that was asked for.
    """
    if "UnknownTopicOrPartitionException" in said:
        remedy = "create it, or correct the topic of the source"
        return StreamUnknownError(f"Kafka has no topic {topic!r}", where=where, remedy=remedy)
    if remedy := next((remedy for mark, remedy in _TLS_REMEDIES.items() if mark in said), ""):
        return ConnectError(f"no TLS with Kafka: {_reason(said)}", where=where, remedy=remedy)
    if any(name in said for name in _REFUSALS):
        remedy = f"check {_FILE}, and that its user may describe and read the topic"
        return ConnectError(f"Kafka refuses this client: {_reason(said)}", where=where, remedy=remedy)
    if "TimeoutException" in said or "DisconnectException" in said or "bootstrap" in said:
        # A server that speaks TLS hangs up on a client that does not, and the other way round: that is all there is.
        remedy = f"start Kafka, or correct the servers of the source, or security.protocol in {_FILE}"
        return ConnectError("Kafka does not answer", where=where, remedy=remedy)
    if any(name in said for name in _NOT_MADE):
        remedy = f"correct {_FILE}"
        return ConfigError(f"Kafka's client cannot be made: {_reason(said)}", where=where, remedy=remedy)
    return StreamError(f"Kafka cannot be read: {_reason(said)}", where=where)


def _reason(said: str) -> str:
    """The innermost cause, without Java's packages."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    causes = [line for line in lines if line.startswith("Caused by:")]
    named = [line for line in lines if "org.apache.kafka." in line and not line.startswith("at ")]
    chosen = (causes or named or lines or ["no reason given"])[-1].removeprefix("Caused by:").strip()
    kind, colon, words = chosen.partition(": ")
    return f"{kind.rpartition('.')[2]}{colon}{words}"[:_CHARACTERS_MAX] if " " not in kind else chosen[:_CHARACTERS_MAX]
