"""Does the operator read what is wrong, where, and what to do, whatever else librdkafka says of it?"""

from __future__ import annotations

import pytest
from confluent_kafka import KafkaError

from lapwing.bridge import troubles as room
from lapwing.bridge.kafka_settings import Settings
from lapwing.bridge.troubles import Troubles

SERVERS: Settings = {"bootstrap.servers": "kafka-1:9093,kafka-2:9093"}
TLS: Settings = {**SERVERS, "security.protocol": "SASL_SSL", "sasl.password": "s3cret", "ssl.ca.location": "/ca.pem"}
PLAIN: Settings = {**SERVERS, "security.protocol": "PLAINTEXT"}
AT = "sasl_ssl://kafka-1:9093/bootstrap: "
NOT_VERIFIED = (
    f"{AT}SSL handshake failed: error:0A000086:SSL routines::certificate verify failed: broker certificate could not be"
    " verified, verify that ssl.ca.location is correctly configured or root CA certificates are installed"
    " (install ca-certificates package) (after 12ms in state SSL_HANDSHAKE)"
)
NOBODY = f"{AT}Connect to ipv4#127.0.0.1:9093 failed: Connection refused (after 0ms in state CONNECT)"


def words(settings: Settings, *said: tuple[int, str]) -> str:
    troubles = Troubles(settings)
    for code, text in said:
        troubles.note(KafkaError(code, text))
    return troubles.words


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        ("Hostname mismatch, certificate is not valid for 'kafka-1'", "kafka-1'; give a name that is in it"),
        ("self-signed certificate in certificate chain", "chain; name the authority that signed it in bridge.kafka.ca"),
        ("certificate has expired", "expired; renew it"),
        ("", "accepted; name the authority that signed it in bridge.kafka.ca and start the bridge again, or give a"),
    ],
)
def test_why_a_certificate_is_not_accepted(monkeypatch: pytest.MonkeyPatch, found: str, expected: str) -> None:
    asked: list[tuple[str, str]] = []

    def problem(server: str, ca: str) -> str:
        asked.append((server, ca))
        return found

    monkeypatch.setattr(room, "problem_of_certificate", problem)
    troubles = Troubles(TLS)
    troubles.note(KafkaError(KafkaError._SSL, NOT_VERIFIED))
    assert expected in troubles.words
    assert troubles.words.startswith("Kafka at kafka-1:9093: its certificate is not accepted")
    assert asked == [("kafka-1:9093", "/ca.pem")], "once"


@pytest.mark.parametrize(
    ("settings", "text", "expected"),
    [
        (TLS, "SSL handshake failed: Disconnected: connecting to a PLAINTEXT broker listener?", "does not speak TLS"),
        (TLS, "SSL handshake failed: error:0A00010B:SSL routines::wrong version number", "does not speak TLS"),
        (TLS, "Receive failed: error:0A00045C:SSL routines::tlsv13 alert certificate required", "wants a certificate"),
        (TLS, "Receive failed: error:0A000412:SSL routines::ssl/tls alert bad certificate", "wants a certificate"),
        (
            {**TLS, "ssl.certificate.location": "/c.pem"},
            "Receive failed: error:0A000418:SSL routines::tlsv1 alert unknown ca",
            "does not accept the certificate of bridge.kafka.certificate",
        ),
        (
            PLAIN,
            "Disconnected: requesting ApiVersion: might be caused by incorrect security.protocol configuration"
            " (connecting to a SSL listener?) or broker version is < 0.10 (see api.version.request)",
            'set bridge.kafka.security to "tls" or "sasl-tls"',
        ),
    ],
)
def test_what_tls_means(settings: Settings, text: str, expected: str) -> None:
    said = words(settings, (KafkaError._TRANSPORT, f"{AT}{text} (after 2ms in state APIVERSION_QUERY)"))
    assert said.startswith("Kafka at kafka-1:9093 ")
    assert expected in said


def test_the_error_that_tells_most_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same failure is also "all down", and another address of the name refuses."""
    monkeypatch.setattr(room, "problem_of_certificate", lambda *_: "")
    down, refused = (KafkaError._ALL_BROKERS_DOWN, "1/1 brokers are down"), (KafkaError._TRANSPORT, NOBODY)
    said = words(TLS, refused, down, (KafkaError._SSL, NOT_VERIFIED), down, refused)
    assert "certificate is not accepted" in said
    assert words(TLS, down, refused, down) == NOBODY.partition(" (after")[0]
    assert words(TLS) == ""


def test_servers_that_end_connections_without_a_word(monkeypatch: pytest.MonkeyPatch) -> None:
    """So a server does that speaks TLS to a client that does not, and librdkafka tells nothing but that it is down."""
    monkeypatch.setattr(room, "speaks_tls", lambda server: server == "kafka-2:9093")
    down = (KafkaError._ALL_BROKERS_DOWN, "2/2 brokers are down")
    assert words(PLAIN, down) == 'Kafka at kafka-2:9093 speaks TLS; set bridge.kafka.security to "tls" or "sasl-tls"'
    assert words(TLS, down).startswith("no connection to Kafka at kafka-1:9093,kafka-2:9093 lasts; is it there")


def test_what_is_over_is_forgotten() -> None:
    troubles = Troubles(TLS)
    troubles.note(KafkaError(KafkaError._AUTHENTICATION, f"{AT}SASL authentication error: no"))
    assert troubles.is_refusal
    troubles.forget()
    assert (troubles.words, troubles.is_refusal) == ("", False)
    troubles.note(KafkaError(KafkaError._TRANSPORT, NOBODY))
    assert "Connection refused" in troubles.words


def test_the_same_trouble_reads_the_same_and_has_no_secret() -> None:
    """librdkafka adds times and counts, which would be told as news each time."""
    first = words(TLS, (KafkaError._AUTHENTICATION, f"{AT}no to s3cret (after 5ms in state AUTH_REQ)"))
    later = f"{AT}no to s3cret (after 71ms in state AUTH_REQ, 4 identical error(s) suppressed)"
    assert words(TLS, (KafkaError._AUTHENTICATION, later)) == first == f"{AT}no to ***"


def test_a_server_that_was_asked_in_vain_is_asked_again_and_seldom(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy machine one question may be too late: does the operator read in the end what is wrong?"""
    now_s, asked_s = [0.0], list[float]()
    answers = iter(("", "certificate has expired"))

    def problem(_server: str, _ca: str) -> str:
        asked_s.append(now_s[0])
        return next(answers)

    monkeypatch.setattr(room, "problem_of_certificate", problem)
    troubles = Troubles(TLS, lambda: now_s[0])
    troubles.note(KafkaError(KafkaError._SSL, NOT_VERIFIED))
    assert "is not accepted; name the authority" in troubles.words
    assert troubles.guess == troubles.words
    for now_s[0] in (9.0, 10.0, 1000.0):
        assert ("expired; renew it" in troubles.words) == (now_s[0] >= 10)
    assert troubles.guess == ""
    assert asked_s == [0.0, 10.0]


def test_who_never_answers_is_not_asked_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    """The lane stands still meanwhile."""
    now_s, asked = [0.0], list[str]()

    def in_vain(server: str) -> bool:
        asked.append(server)
        return False

    monkeypatch.setattr(room, "speaks_tls", in_vain)
    troubles = Troubles(PLAIN, lambda: now_s[0])
    troubles.note(KafkaError(KafkaError._ALL_BROKERS_DOWN, "2/2 brokers are down"))
    for now_s[0] in range(0, 1000, 5):
        assert troubles.words.startswith("no connection to Kafka at kafka-1:9093,kafka-2:9093 lasts")
    assert asked == ["kafka-1:9093", "kafka-2:9093"] * 3
    assert troubles.guess == ""
