"""Is what Kafka's client throws told with the cause and what to do? Texts as Java prints them, with fewer frames."""

from __future__ import annotations

import pytest

from lapwing.errors import ConfigError, ConnectError, LapwingError, StreamError, StreamUnknownError
from lapwing.pipeline.source.kafka_failure import kafka_error

HANDSHAKE = """An error occurred while calling o1.get.
: java.util.concurrent.ExecutionException: org.apache.kafka.common.errors.SslAuthenticationException: SSL ...
\tat org.apache.kafka.common.internals.KafkaFutureImpl.get(KafkaFutureImpl.java:155)
Caused by: org.apache.kafka.common.errors.SslAuthenticationException: SSL handshake failed
Caused by: javax.net.ssl.SSLHandshakeException: {words}
\tat java.base/sun.security.ssl.Alert.createSSLException(Alert.java:130)
\tat org.apache.kafka.common.network.SslTransportLayer.runDelegatedTasks(SslTransportLayer.java:430)
\t... 22 more
"""
REFUSED = """org.apache.kafka.common.errors.SaslAuthenticationException: Authentication failed: no
\tat org.apache.kafka.common.internals.KafkaFutureImpl.get(KafkaFutureImpl.java:155)
"""
NOT_MADE = """org.apache.kafka.common.KafkaException: Failed to create new KafkaAdminClient
Caused by: org.apache.kafka.common.KafkaException: Failed to load SSL keystore /ca.pem of type PEM
Caused by: java.nio.file.NoSuchFileException: /ca.pem
"""


@pytest.mark.parametrize(
    ("words", "remedy"),
    [
        ("(certificate_unknown) PKIX path building failed: unable to find valid certification path", "truststore"),
        ("(certificate_unknown) No subject alternative names matching IP address 127.0.0.1 found", "in the source"),
        ("(certificate_unknown) No name matching localhost found", "advertised.listeners"),
        ("(certificate_required) Received fatal alert: certificate_required", "ssl.keystore.location"),
    ],
)
def test_a_handshake_that_failed(words: str, remedy: str) -> None:
    error = kafka_error(HANDSHAKE.format(words=words), "kafka://h:1/t", "t")
    assert isinstance(error, ConnectError)
    assert error.what == f"no TLS with Kafka: SSLHandshakeException: {words}"
    assert remedy in (error.remedy or "")


@pytest.mark.parametrize(
    ("said", "kind", "what"),
    [
        (REFUSED, ConnectError, "Kafka refuses this client: SaslAuthenticationException: Authentication failed: no"),
        ("org.apache.kafka.common.errors.TimeoutException: Timed out", ConnectError, "Kafka does not answer"),
        ("x\nCaused by: a.UnknownTopicOrPartitionException: no", StreamUnknownError, "Kafka has no topic 't'"),
        (NOT_MADE, ConfigError, "Kafka's client cannot be made: NoSuchFileException: /ca.pem"),
        ("Caused by: a.b.SomeException: why", StreamError, "Kafka cannot be read: SomeException: why"),
        ("", StreamError, "Kafka cannot be read: no reason given"),
    ],
)
def test_what_else_fails(said: str, kind: type[LapwingError], what: str) -> None:
    error = kafka_error(said, "kafka://h:1/t", "t")
    assert (type(error), error.what) == (kind, what)
