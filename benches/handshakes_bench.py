"""What the others feel of one client that sends ClientHellos and never answers: p50 and p99 at QoS 1 beside it.

The broker has one event loop and one thread for handshakes, on one core together; the load, whose clients speak plain
TCP, has the other core, and the flood what the load leaves of it. The target: p99 within twice that of the same load
alone, whatever kind of key the listener has.
"""

from __future__ import annotations

import contextlib
import datetime
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from benches.brokers import RunningBroker, lapwing
from benches.load import Report, swarm
from benches.table import print_table, verdict
from lapwing.lab.ports import free_port

BROKER, CLIENTS = {0}, {1}
RATE_PER_S = 2_000
PAIRS = 50
RATIO_MAX = 2.0

PrivateKey = ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey
KEYS: dict[str, Callable[[], PrivateKey]] = {
    "ECDSA P-256": lambda: ec.generate_private_key(ec.SECP256R1()),
    "RSA 2048": lambda: rsa.generate_private_key(65537, 2048),
    "RSA 4096": lambda: rsa.generate_private_key(65537, 4096),
}
"""Kinds of keys, by what their signatures cost."""


def write_certificate(key: PrivateKey, folder: Path) -> None:
    """Writes `server.pem`, which signs itself, and `server.key` into `folder`."""
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.datetime.now(datetime.UTC)
    builder = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
    builder = builder.not_valid_before(now).not_valid_after(now + datetime.timedelta(days=1))
    signed = builder.sign(key, hashes.SHA256())
    (folder / "server.pem").write_bytes(signed.public_bytes(serialization.Encoding.PEM))
    plain = serialization.NoEncryption()
    pem = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain)
    (folder / "server.key").write_bytes(pem)


@contextlib.contextmanager
def broker_with(key: PrivateKey) -> Iterator[tuple[RunningBroker, int]]:
    """A broker for plain TCP, and the port of its listener with TLS."""
    with tempfile.TemporaryDirectory(prefix="lapwing-bench-") as home:
        folder, port = Path(home), free_port()
        write_certificate(key, folder)
        (folder / "lapwing.toml").write_text(
            f'[[listeners]]\nurl = "tls://127.0.0.1:{port}"\n'
            f'certificate = "{folder}/server.pem"\nkey = "{folder}/server.key"\n'
        )
        with lapwing(BROKER, home=folder, arguments=("--config", f"{folder}/lapwing.toml")) as broker:
            yield broker, port


@contextlib.contextmanager
def flood(port: int) -> Iterator[None]:
    """ClientHellos as fast as one process on the clients' core gets to send them."""
    process = subprocess.Popen(
        [sys.executable, "-m", "benches.hello_flood", str(port)],
        preexec_fn=lambda: os.sched_setaffinity(0, CLIENTS),
    )
    try:
        yield
    finally:
        process.kill()
        process.wait()


def _load(broker: RunningBroker, seconds: float) -> Report:
    return swarm("p2p", broker.url, CLIENTS, seconds=seconds, publishers=PAIRS, rate=RATE_PER_S, qos=1)


def run(*, quick: bool) -> None:
    """Prints one row per kind of key, and whether the target is reached."""
    rounds, seconds = (2, 2.0) if quick else (5, 5.0)
    rows, worst = [], 0.0
    for kind, make in KEYS.items():
        alone: list[Report] = []
        beside: list[Report] = []
        for _ in range(rounds):
            with broker_with(make()) as (broker, port):
                alone.append(_load(broker, seconds))
                with flood(port):
                    beside.append(_load(broker, seconds))
        figures = [
            statistics.median(report["latency_us"][name] for report in reports)
            for name in ("p50", "p99")
            for reports in (alone, beside)
        ]
        ratio = figures[3] / figures[2]
        worst = max(worst, ratio)
        rows.append((kind, *figures, ratio, sum(report["lost"] for report in beside)))
    print_table(
        f"{PAIRS} pairs at {RATE_PER_S:,} messages/s, QoS 1, beside a flood of ClientHellos; "
        f"medians of {rounds} alternating runs of {seconds:.0f} s",
        ("key", "p50 alone us", "p50 beside us", "p99 alone us", "p99 beside us", "p99 ratio", "lost"),
        rows,
    )
    verdict("p99 beside a flood of ClientHellos, times that without it", worst, RATIO_MAX, at_most=True)
