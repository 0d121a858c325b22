"""The embedded broker and the pytest fixture: what a user's own tests get."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest
from web import get

import lapwing
from lapwing.errors import AddressInUseError, BrokerError, ConfigError, DataFolderError


def test_fixture_runs_a_broker(lapwing_broker: lapwing.Broker) -> None:
    """Is the broker ready, on a port of its own, without HTTP nobody asked for?"""
    assert lapwing_broker.ready
    assert lapwing_broker.url.startswith("tcp://127.0.0.1:")
    assert not lapwing_broker.url.endswith(":0")
    with pytest.raises(BrokerError, match="no HTTP"):
        _ = lapwing_broker.http_url


@pytest.mark.lapwing(streams={"all": "#"}, http="127.0.0.1:0", listen=["tcp://127.0.0.1:0", "tcp://[::1]:0"])
def test_fixture_takes_settings(lapwing_broker: lapwing.Broker) -> None:
    """Do the marker's arguments reach the broker?"""
    assert [stream["name"] for stream in lapwing_broker.streams()] == ["all"]
    assert len(lapwing_broker.urls) == 2
    assert get(f"{lapwing_broker.http_url}/readyz").status_code == 200


def test_one_listener_may_be_given_as_one_url() -> None:
    """A text is a sequence of letters, and each letter was called a wrong URL."""
    with lapwing.Broker(listen="tcp://127.0.0.1:0") as broker:
        assert len(broker.urls) == 1


def test_temporary_folder_is_deleted(lapwing_broker: lapwing.Broker) -> None:
    """Does a broker without `data` leave nothing behind?"""
    with lapwing.Broker(streams={"all": "#"}) as broker:
        folder = broker.config.broker.data
        assert folder.exists()
    assert not folder.exists()
    assert not broker.ready


def test_data_folder_is_kept(tmp_path: Path) -> None:
    """Is a stream the same one after a restart on its folder?"""
    uuids = []
    for _ in range(2):
        with lapwing.Broker(streams={"all": "#"}, data=tmp_path / "data") as broker:
            uuids.append(broker.streams()[0]["uuid"])
    assert uuids[0] == uuids[1]


def test_metrics_count_what_is_done(lapwing_broker: lapwing.Broker) -> None:
    """Does each counter, by its name and labels, have what one client has done?"""
    with lapwing.Client(lapwing_broker.url) as client:
        for qos in (1, 1, 2):
            client.publish("t", b"x", qos=qos)
        client.flush()
        metrics = lapwing_broker.metrics()
    received = {qos: metrics[f'lapwing_messages_received_total{{qos="{qos}"}}'] for qos in (0, 1, 2)}
    assert received == {0: 0, 1: 2, 2: 1}
    assert (metrics["lapwing_connections"], metrics["lapwing_sessions_opened_total"]) == (1, 1)


def test_address_in_use(lapwing_broker: lapwing.Broker) -> None:
    """Is a taken port an error that names it, on both listeners?"""
    with pytest.raises(AddressInUseError, match="in use"):
        lapwing.Broker(listen=[lapwing_broker.url]).start()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(AddressInUseError, match=address):
            lapwing.Broker(http=address).start()


def test_data_folder_that_cannot_be_used(tmp_path: Path) -> None:
    """Is a file where the folder should be an error that names it?"""
    (tmp_path / "file").write_text("")
    with pytest.raises(DataFolderError, match="file"):
        lapwing.Broker(streams={"all": "#"}, data=tmp_path / "file").start()


def test_data_folder_is_for_one_broker(tmp_path: Path) -> None:
    """Is the second broker on one folder refused, and the first undisturbed?"""
    with lapwing.Broker(streams={"all": "#"}, data=tmp_path) as first:
        with pytest.raises(DataFolderError):
            lapwing.Broker(streams={"all": "#"}, data=tmp_path).start()
        assert first.ready


def test_wrong_settings() -> None:
    """Are wrong arguments reported like those of a file?"""
    with pytest.raises(ConfigError) as caught:
        lapwing.Broker(listen=["tcp://127.0.0.1:port"], streams={"s": "a/#/b"}, limits={"topic_level_max": 3})
    assert len(caught.value.lines()) == 3


def test_started_once(lapwing_broker: lapwing.Broker) -> None:
    """Is a second start refused, and a second stop harmless?"""
    with pytest.raises(BrokerError, match="started before"):
        lapwing_broker.start()
    lapwing_broker.stop()
    lapwing_broker.stop()
