"""The broker that `floods_bench` floods: every kind of door, users, one event loop, on one core."""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from benches.brokers import RunningBroker, lapwing
from lapwing.lab.ports import free_port

PrivateKey = ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey
KEYS: dict[str, Callable[[], PrivateKey]] = {
    "ECDSA P-256": lambda: ec.generate_private_key(ec.SECP256R1()),
    "RSA 2048": lambda: rsa.generate_private_key(65537, 2048),
    "RSA 4096": lambda: rsa.generate_private_key(65537, 4096),
}
"""Kinds of keys, by what their signatures cost."""
USERS = {"alice": "correct horse", "bob": "battery staple"}


@dataclasses.dataclass(frozen=True)
class Doors:
    """Ports of loopback, by what is spoken there; TLS by the kind of key."""

    tcp: int
    ws: int
    http: int
    tls: dict[str, int]


def _write_certificate(key: PrivateKey, stem: Path) -> None:
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.datetime.now(datetime.UTC)
    builder = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
    builder = builder.not_valid_before(now).not_valid_after(now + datetime.timedelta(days=1))
    signed = builder.sign(key, hashes.SHA256())
    stem.with_suffix(".pem").write_bytes(signed.public_bytes(serialization.Encoding.PEM))
    plain = serialization.NoEncryption()
    pem = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain)
    stem.with_suffix(".key").write_bytes(pem)
    stem.with_suffix(".key").chmod(0o600)


def write_identities(folder: Path) -> None:
    """Writes what does not change from one broker to the next into ``folder``: certificates and users."""
    for number, make in enumerate(KEYS.values()):
        _write_certificate(make(), folder / f"server-{number}")
    for name, password in USERS.items():
        command = [sys.executable, "-m", "lapwing", "user", "add", name, "--password-stdin"]
        subprocess.run(command, cwd=folder, input=password, text=True, check=True, capture_output=True)


def _configuration(folder: Path, ws: int, tls: dict[str, int]) -> str:
    lines = ["[auth]", f'users = "{folder}/users.toml"', "[[listeners]]", f'url = "ws://127.0.0.1:{ws}"']
    for number, port in enumerate(tls.values()):
        lines += ["[[listeners]]", f'url = "tls://127.0.0.1:{port}"']
        lines += [f'certificate = "{folder}/server-{number}.pem"', f'key = "{folder}/server-{number}.key"']
    # A slow reader is to stay for the whole run.
    return "\n".join([*lines, "[limits]", 'output_stall = "10m"', ""])


@contextlib.contextmanager
def flooded(cpus: set[int], identities: Path) -> Iterator[tuple[RunningBroker, Doors]]:
    """A new broker on ``cpus`` with what `write_identities` has made, and its doors."""
    ws, http, tls = free_port(), free_port(), {kind: free_port() for kind in KEYS}
    with tempfile.TemporaryDirectory(prefix="lapwing-bench-") as home:
        file = Path(home, "lapwing.toml")
        file.write_text(_configuration(identities, ws, tls))
        settings = [f"broker.http=127.0.0.1:{http}"]
        with lapwing(cpus, settings=settings, home=Path(home), arguments=["--config", str(file)]) as broker:
            yield broker, Doors(urlsplit(broker.url).port or 0, ws, http, tls)
