"""A process without file descriptors: clients may be turned away, what works must go on."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

CODE = """
import resource, socket, sys
sys.path.insert(0, {folder!r})
from wire import PUBACK, Wire, publish
import lapwing
resource.setrlimit(resource.RLIMIT_NOFILE, (200, 200))
with lapwing.Broker(shards=1, streams={{"s": {{"filter": "t", "segment_bytes": 65536}}}}) as broker:
    wire = Wire.client(broker.url, "w")
    address = ("127.0.0.1", int(broker.url.rsplit(":", 1)[1]))
    crowd = []
    try:
        while True:
            crowd.append(socket.create_connection(address))
    except OSError:
        pass
    for n in range(10):
        wire.send(publish("t", b"x" * 20000, qos=1, packet_id=n + 1))
        try:
            wire.expect(PUBACK, 0.3)
        except (AssertionError, TimeoutError):
            break  # It waits for a descriptor: allowed, as long as it goes on afterwards.
    broker.check()
    for one in crowd:
        one.close()
    Wire.client(broker.url, "after").close()
    broker.check()
print("alive")
"""


def test_a_crowd_of_connections_does_not_stop_the_log() -> None:
    """The log needs a descriptor for its next segment when clients have taken them all."""
    code = CODE.format(folder=str(Path(__file__).parent))
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert ended.stdout == "alive\n", ended.stderr[-600:]
