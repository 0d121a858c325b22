"""What waits for a client that is away says who has published it, with the same id whenever it comes."""

from __future__ import annotations

from pathlib import Path

import pytest
from restarting import RestartingBroker
from told import NAMES, Told, envelope

SHARDS = pytest.mark.parametrize("shards", [1, 2])


def broker(folder: Path, shards: int, config: str = "") -> RestartingBroker:
    file = folder / "lapwing.toml"
    file.write_text(config)
    running = RestartingBroker(folder, "--set", f"broker.shards={shards}", "--config", str(file))
    running.start()
    return running


@SHARDS
@pytest.mark.parametrize("qos", [1, 2])
@pytest.mark.parametrize("filter_", ["t/#", "$share/g/t/#"])
def test_a_message_has_its_id_whenever_it_comes(tmp_path: Path, shards: int, qos: int, filter_: str) -> None:
    """Waiting, at QoS 1 also under way when the broker is killed; to a session and to a group's member."""
    running = broker(tmp_path, shards, "[limits]\nqueue_memory_bytes = 65536\n")
    try:
        member = Told(running.url, "member", expiry_s=600).subscribe(filter_, qos=qos)
        if qos == 2:
            # Paho says at once that it has a message of QoS 2, and then it is its own.
            member.breaks()
        with Told(running.url, "device", asks=None, expiry_s=600) as device:
            for number in range(40):
                device.publish(f"t/{number}", bytes(4096), qos=qos)
            early = [member.take(finish=False) for _ in range(3)] if qos == 1 else []
            running.kill()
        member.client.loop_stop()
        running.start()
        with Told(running.url, "device", asks=None, expiry_s=600) as device:
            # Nobody has asked in this life of the broker, and yet it must be noted.
            device.publish("t/last", b"", qos=qos)
        with Told(running.url, "member", expiry_s=600) as member:
            seen = [member.take() for _ in range(41)]
        all_said = {message.topic: envelope(message) for message in seen}
        assert len(all_said) == 41
        assert all(set(one) == set(NAMES) for one in all_said.values())
        assert all(all_said[message.topic] == envelope(message) for message in early)
        assert len({one["lapwing-message-id"] for one in all_said.values()}) == 41
        assert {one["lapwing-client"] for one in all_said.values()} == {"device"}
        assert len({one["lapwing-session"] for one in all_said.values()}) == 1, "one session, over the restart too"
    finally:
        running.kill()


def test_a_client_that_comes_back_gets_the_same_id_again(tmp_path: Path) -> None:
    running = broker(tmp_path, 2)
    try:
        ids = set()
        with Told(running.url, "device", asks=None) as device:
            Told(running.url, "member", expiry_s=600).subscribe("t").breaks()
            device.publish("t", b"x")
            for _ in range(3):
                member = Told(running.url, "member", expiry_s=600)
                ids.add(envelope(member.take(finish=False))["lapwing-message-id"])
                member.breaks()
        assert len(ids) == 1
    finally:
        running.kill()
