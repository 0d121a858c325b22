"""The client against the swarm's sink: a real socket, a server that answers everything and echoes QoS 0."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator

import pytest

from lapwing import Broker, _core
from lapwing.client import Client, Message
from lapwing.errors import ConfigError, ConnectError, LapwingError, RejectedError, Rejection, TimedOutError


@pytest.fixture
def sink() -> Iterator[_core.Sink]:
    """A sink that echoes."""
    sink = _core.Sink(echo=True)
    yield sink
    sink.stop()


@pytest.mark.parametrize("version", [4, 5])
def test_a_message_comes_back_as_it_went(sink: _core.Sink, version: int) -> None:
    with Client(sink.url(), version=version) as client:
        assert client.subscribe("a/b", qos=1) == [1]
        client.publish("a/b", "grün")
        assert client.receive(30.0) == Message("a/b", "grün".encode())


def test_a_message_leaves_without_a_further_call() -> None:
    with Broker() as broker, Client(broker.url) as reader, Client(broker.url) as writer:
        reader.subscribe("#")
        writer.publish("a", b"sent", qos=1)
        first = reader.receive(20.0)
        assert first is not None
        assert first.payload == b"sent"
        writer.publish("a", b"held", hold=True)
        assert reader.receive(0.1) is None
        writer.publish("a", b"next")
        assert [message.payload for message in itertools.islice(reader.messages(20.0), 2)] == [b"held", b"next"]


def test_properties_come_back_in_order(sink: _core.Sink) -> None:
    with Client(sink.url()) as client:
        pairs = [("room", "12"), ("floor", "3"), ("room", "13")]
        client.publish("a", b"\x00\xff", user_properties=pairs, content_type="bytes", correlation_data=b"7")
        message = next(client.messages(30.0))
    assert message.user_properties == pairs
    assert (message.payload, message.content_type, message.correlation_data) == (b"\x00\xff", "bytes", b"7")


@pytest.mark.parametrize("qos", [1, 2])
def test_flush_waits_for_every_answer(sink: _core.Sink, qos: int) -> None:
    with Client(sink.url()) as client:
        for number in range(3000):
            client.publish("a", str(number), qos=qos)
        client.flush(30.0)
    assert json.loads(sink.figures_json())["publishes"] == 3000


def test_nothing_in_time_is_none(sink: _core.Sink) -> None:
    with Client(sink.url()) as client:
        assert client.receive(0.0) is None
        assert list(client.messages(0.01)) == []


def test_nobody_there_is_a_connect_error_with_the_address(sink: _core.Sink) -> None:
    url = sink.url()
    sink.stop()
    with pytest.raises(ConnectError, match=url):
        Client(url, timeout_s=30.0).connect()


def test_a_server_that_does_not_answer_is_a_timeout() -> None:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        with pytest.raises(TimedOutError, match="CONNACK"):
            Client(f"tcp://127.0.0.1:{port}", timeout_s=0.05).connect()


def test_what_the_broker_refuses_is_named() -> None:
    rule = {"identity": "anonymous", "may": ["publish"], "topics": ["open"]}
    with Broker(rules=[rule]) as broker, Client(broker.url) as client:
        client.publish("open", b"", qos=1)
        client.flush(20.0)
        number = client.publish("secret", b"", qos=1)
        with pytest.raises(RejectedError, match='publish to "secret" was refused: Not authorized') as told:
            client.flush(20.0)
        assert told.value.rejections == (Rejection(number, "secret", 0x87, "Not authorized (0x87)"),)
        client.flush(20.0)


def test_wrong_arguments_are_config_errors(sink: _core.Sink) -> None:
    with pytest.raises(ConfigError, match="http"):
        Client("http://127.0.0.1:1").connect()
    with pytest.raises(ConfigError, match="keep_alive_s"):
        Client(sink.url(), keep_alive_s=-1)
    with Client(sink.url()) as client:
        with pytest.raises(ConfigError, match="wildcard"):
            client.publish("a/+", b"")
        with pytest.raises(ConfigError, match="qos"):
            client.publish("a", b"", qos=3)
        with pytest.raises(ConfigError, match="content type"):
            client.publish("a", b"", content_type="text\0plain")
        with pytest.raises(ConfigError, match="filter"):
            client.subscribe("a/#/b")


def test_a_closed_client_says_so(sink: _core.Sink) -> None:
    client = Client(sink.url())
    with pytest.raises(LapwingError, match="not connected"):
        client.publish("a", b"")
    client.connect()
    client.disconnect()
    client.disconnect()
    with pytest.raises(LapwingError, match="not connected"):
        client.receive(0.0)


def test_a_packet_id_is_the_callers_to_choose_while_it_is_free() -> None:
    with Broker() as broker, Client(broker.url) as client:
        client.publish("a", b"", qos=1, packet_id=7, hold=True)
        with pytest.raises(ConfigError, match="packet id 7 is in use"):
            client.publish("a", b"", qos=2, packet_id=7, hold=True)
        with pytest.raises(ConfigError, match="packet_id = 0"):
            client.publish("a", b"", qos=1, packet_id=0)
        client.flush(20.0)
        client.publish("a", b"", qos=2, packet_id=7)
        client.flush(20.0)


def test_subscriptions_have_identifiers_and_say_when_retained_messages_come() -> None:
    with Broker() as broker, Client(broker.url) as client:
        client.publish("a", b"kept", qos=1, retain=True)
        client.flush(20.0)
        client.subscribe("a", subscription_id=7)
        first = client.receive(20.0)
        assert first is not None
        assert first.subscription_ids == [7]
        client.subscribe("a", retain_handling=1, subscription_id=8)
        client.subscribe("#", retain_handling=2)
        client.publish("a", b"live")
        live = client.receive(20.0)
        assert live is not None
        assert (live.payload, live.subscription_ids) == (b"live", [8]), "nothing retained came again"
        for wrong in (0, 268_435_456):
            with pytest.raises(ConfigError, match="subscription_id"):
                client.subscribe("a", subscription_id=wrong)
        with pytest.raises(ConfigError, match="retain_handling"):
            client.subscribe("a", retain_handling=3)


def test_a_goodbye_changes_how_long_the_session_stays() -> None:
    with Broker() as broker:
        for said, stays in ((None, True), (0, False), (60, True)):
            client = Client(broker.url, client_id="d1", session_expiry_s=30).connect()
            client.disconnect(session_expiry_s=said)
            with Client(broker.url, client_id="d1", clean_start=False) as again:
                assert again.session_present is stays
        with Client(broker.url, client_id="d2") as brief:
            with pytest.raises(ConfigError, match="session expiry 0"):
                brief.disconnect(session_expiry_s=5)
            brief.publish("a", b"", qos=1)
            brief.flush(20.0)
        with Client(broker.url, version=4) as old, pytest.raises(ConfigError, match=r"3\.1\.1"):
            old.disconnect(session_expiry_s=5)
