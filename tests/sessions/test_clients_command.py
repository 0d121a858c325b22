"""`lapwing clients` and `/v1/clients`: who is connected, since when, by which listener; and a kick."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from datetime import UTC, datetime
from urllib.parse import quote

import pytest
from commands import Running, call

import lapwing

ODD = "a/b\nc"


def test_who_is_connected() -> None:
    begun = datetime.now(UTC)
    with lapwing.Broker(shards=2, http="127.0.0.1:0") as broker:
        online = lapwing.Client(broker.url, client_id=ODD).connect()
        online.subscribe(["x", "y"], qos=1)
        lapwing.Client(broker.url, client_id="away", session_expiry_s=60, clean_start=False).connect().disconnect()
        done = call("clients", "--json", "--url", broker.http_url)
        (client,) = map(json.loads, done.stdout.splitlines())
        assert client["client_id"] == ODD
        assert client["listener"] == broker.url
        assert client["subscriptions"] == 2
        assert client["bytes_in"] > 10
        assert client["bytes_out"] > 4
        assert abs((datetime.fromisoformat(client["connected_since"]) - begun).total_seconds()) < 60
        plain = call("clients", "--url", broker.http_url)
        assert plain.stdout.splitlines()[1].split()[:2] == [r"a/b\nc", "-"]
        assert "1 of 1 clients" in plain.stderr
        with urllib.request.urlopen(f"{broker.http_url}/v1/clients/{quote(ODD, safe='')}") as answer:
            assert json.load(answer)["address"] == client["address"]
        with pytest.raises(urllib.error.HTTPError) as unknown:
            urllib.request.urlopen(f"{broker.http_url}/v1/clients/away")
        assert json.load(unknown.value)["error"]["code"] == "client_unknown"
        online.abort()


def test_a_kick_leaves_the_session() -> None:
    with lapwing.Broker(shards=2, http="127.0.0.1:0") as broker:
        online = lapwing.Client(broker.url, client_id="c", session_expiry_s=60, clean_start=False).connect()
        online.subscribe("x", qos=1)
        assert call("clients", "kick", "c", "--yes", "--url", broker.http_url).returncode == 0
        with pytest.raises(lapwing.LapwingError, match="Administrative action"):
            online.receive(30.0)
        online.abort()
        again = call("clients", "kick", "c", "d", "--yes", "--url", broker.http_url)
        assert again.returncode == 1
        assert "no client 'c' is connected" in again.stderr
        assert "no client 'd' is connected" in again.stderr, "one that is not there is no end of the order"
        assert online.connect().session_present
        online.abort()
        (gone,) = [line.text for line in broker.log() if "Administrative action" in line.text]
        assert gone.startswith('client "c" (anonymous) from 127.0.0.1:')
        assert "bytes in" in gone


def test_watched_again_and_again() -> None:
    with (
        lapwing.Broker(http="127.0.0.1:0") as broker,
        lapwing.Client(broker.url, client_id="c"),
        Running("clients", "--watch", "--json", "--url", broker.http_url) as watch,
    ):
        for _ in range(2):
            assert json.loads(watch.line())["client_id"] == "c"
