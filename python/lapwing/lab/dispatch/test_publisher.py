"""The publisher against a broker that lets it send one message and never answers: when was everything due?"""

from __future__ import annotations

import socket
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from lapwing.lab.dispatch import publisher
from lapwing.lab.dispatch.publisher import Order, Publisher
from lapwing.lab.dispatch.session import SENT_RECORD
from lapwing.lab.dispatch.trace import MESSAGE

_CONNACK_WITH_ONE_AT_A_TIME = b"\x20\x06\x00\x00\x03\x21\x00\x01"


def test_what_was_never_sent_has_its_due_instant_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(publisher, "_SILENCE_S", 0.0)
    np.array([(0.0, 1.0, 0), (10.0, 1.0, 1), (20.0, 1.0, 0)], MESSAGE).tofile(tmp_path / "messages.bin")
    taken: list[socket.socket] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            taken.append(server.accept()[0])
            taken[0].sendall(_CONNACK_WITH_ONE_AT_A_TIME)

        threading.Thread(target=serve, daemon=True).start()
        order = Order(str(tmp_path / "messages.bin"), server.getsockname(), "t", {}, str(tmp_path / "sent"))
        one = Publisher(order)
        start_ns = time.monotonic_ns() - 1_000_000_000
        one.run(start_ns)
        one.write(Path(order.records))
    taken[0].close()
    sent = np.fromfile(order.records, SENT_RECORD)
    assert (sent["due"] - start_ns).tolist() == [0, 10_000_000, 20_000_000]
    assert (sent["sent"] > 0).tolist() == [True, False, False]
