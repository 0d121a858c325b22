"""Unix sockets: their file, its permissions, and who may have it."""

from __future__ import annotations

import socket
import stat
import threading

import paho.mqtt.client as paho
import pytest
from carriers import StreamWire, echo, greet, unix

import lapwing
from lapwing.errors import BrokerError


def broker_at(path, **settings):
    return lapwing.Broker(listeners=[{"url": f"unix://{path}", **settings}], shards=2)


def test_messages_cross_and_the_file_goes(tmp_path):
    path = tmp_path / "broker.sock"
    with broker_at(path) as broker:
        assert broker.url == f"unix://{path}"
        for number in range(4):
            with StreamWire(unix(str(path))) as client:
                assert greet(client, f"c{number}").reason == 0
                echo(client, f"t{number}", b"x" * 300_000)
    assert not path.exists()


@pytest.mark.parametrize(("mode", "bits"), [(None, 0o660), ("0600", 0o600), ("777", 0o777)])
def test_permissions(tmp_path, mode, bits):
    path = tmp_path / "broker.sock"
    with broker_at(path, **({"mode": mode} if mode else {})):
        assert stat.S_IMODE(path.stat().st_mode) == bits


def test_a_socket_left_behind_is_replaced(tmp_path):
    path = tmp_path / "broker.sock"
    socket.socket(socket.AF_UNIX).bind(str(path))
    with broker_at(path), StreamWire(unix(str(path))) as client:
        assert greet(client, "c").reason == 0


def test_a_socket_in_use_is_not(tmp_path):
    path = tmp_path / "broker.sock"
    with broker_at(path):
        with pytest.raises(BrokerError, match="in use"):
            broker_at(path).start()
        with StreamWire(unix(str(path))) as client:
            assert greet(client, "c").reason == 0


def test_a_file_that_is_no_socket_is_kept(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("dear diary")
    with pytest.raises(BrokerError, match="no socket"):
        broker_at(path).start()
    assert path.read_text() == "dear diary"


def test_a_folder_that_is_missing_is_named(tmp_path):
    with pytest.raises(BrokerError, match=r"nowhere/broker\.sock.*folder"):
        broker_at(tmp_path / "nowhere" / "broker.sock").start()


def test_a_client_library_connects(tmp_path):
    path = tmp_path / "broker.sock"
    with broker_at(path):
        client = paho.Client(paho.CallbackAPIVersion.VERSION2, "paho-unix", transport="unix")
        connected = threading.Event()
        client.on_connect = lambda *_: connected.set()
        client.connect(str(path))
        client.loop_start()
        try:
            assert connected.wait(30)
        finally:
            client.disconnect()
            client.loop_stop()
