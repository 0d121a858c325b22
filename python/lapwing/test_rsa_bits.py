"""Are RSA keys of authorities and certificates that are too short named by their bits, wherever such a file is read?"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import BestAvailableEncryption, Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from lapwing._core import weak_rsa_key
from lapwing.certificate_times import certificate_notices
from lapwing.config import Config, HttpSection
from lapwing.config.bridge import BridgeSection
from lapwing.errors import ConfigError
from lapwing.http.server_context import server_context
from lapwing.rehearsal.bridge_files import bridge_faults

Key = rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey | ed25519.Ed25519PrivateKey
WEAK, OTHER = rsa.generate_private_key(65_537, 1024), ec.generate_private_key(ec.SECP256R1())
NOW = datetime.now(UTC)
RULE = {"name": "r", "filter": "a/#", "topic": "t"}


def certificate_of(key: Key) -> bytes:
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "somebody")])
    hashed = None if isinstance(key, ed25519.Ed25519PrivateKey) else SHA256()
    made = x509.CertificateBuilder(name, name, key.public_key(), 7, NOW, NOW + timedelta(days=90))
    made = made.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
    return made.sign(key, hashed).public_bytes(Encoding.PEM)


def written(folder: Path, key: Key, name: str, password: bytes = b"") -> tuple[Path, Path]:
    """Certificate and key."""
    certificate, file = folder / f"{name}.pem", folder / f"{name}.key"
    certificate.write_bytes(certificate_of(key))
    hidden = BestAvailableEncryption(password) if password else NoEncryption()
    file.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, hidden))
    return certificate, file


@pytest.mark.parametrize(
    ("key", "said"), [(WEAK, "RSA of 1024 bits"), (OTHER, ""), (ed25519.Ed25519PrivateKey.generate(), "")]
)
def test_the_bits_are_read(key: Key, said: str) -> None:
    pem = certificate_of(key)
    weak = weak_rsa_key(pem)
    assert (weak or "").startswith(said)
    assert (weak is None) == (not said)
    assert weak_rsa_key(certificate_of(OTHER) + pem) == weak


def test_what_is_no_certificate_has_none() -> None:
    pem = certificate_of(WEAK)
    begin, end = b"-----BEGIN CERTIFICATE-----\n", b"-----END CERTIFICATE-----\n"
    for noise in (b"", b"AA==\n", b"!\n", pem[len(begin) : 200] + b"\n", b"MIAA\n", b"MIL/////\n"):
        assert weak_rsa_key(begin + noise + end) is None


def test_http_says_the_bits(tmp_path: Path) -> None:
    certificate, key = written(tmp_path, WEAK, "weak")
    with pytest.raises(ConfigError, match="RSA of 1024 bits"):
        server_context(HttpSection(certificate=certificate, key=key))


def test_an_authority_is_told_of(tmp_path: Path) -> None:
    weak, _ = written(tmp_path, WEAK, "weak")
    good, key = written(tmp_path, OTHER, "good")
    config = Config(http=HttpSection(certificate=good, key=key, client_ca=weak))
    (told,) = certificate_notices(config, NOW.timestamp())
    assert told.startswith(f"{weak} (http.client_ca): the key of an authority is RSA of 1024 bits")


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"certificate": "good.pem", "key": "good.key", "ca": "good.pem"}, ""),
        ({"certificate": "good.pem", "key": "other.key"}, "bridge.kafka.certificate cannot be used"),
        ({"certificate": "noise", "key": "good.key"}, "bridge.kafka.certificate cannot be used"),
        ({"certificate": "weak.pem", "key": "weak.key"}, "bridge.kafka.certificate: its key is RSA of 1024 bits"),
        ({"ca": "noise"}, "bridge.kafka.ca cannot be used"),
        ({"ca": "weak.pem"}, "bridge.kafka.ca: a key is RSA of 1024 bits"),
        ({"ca": "nope"}, "bridge.kafka.ca cannot be read"),
        ({"certificate": "good.pem", "key": "shut.key", "key_password_file": "word"}, ""),
        ({"certificate": "good.pem", "key": "shut.key", "key_password_file": "noise"}, "cannot be used"),
        ({"certificate": "good.pem", "key": "shut.key"}, ""),
    ],
)
def test_what_the_bridge_would_load(tmp_path: Path, files: dict[str, str], said: str) -> None:
    written(tmp_path, OTHER, "good")
    written(tmp_path, ec.generate_private_key(ec.SECP256R1()), "other")
    written(tmp_path, WEAK, "weak")
    written(tmp_path, OTHER, "shut", b"open sesame")
    (tmp_path / "noise").write_text("noise\n")
    (tmp_path / "word").write_text("open sesame\n")
    kafka = {"security": "tls", **{key: tmp_path / name for key, name in files.items()}}
    bridge = BridgeSection.model_validate({"to_kafka": [RULE], "kafka": kafka})
    faults = [str(fault) for fault in bridge_faults(Config(bridge=bridge))]
    assert len(faults) == bool(said), faults
    assert all(said in fault for fault in faults), faults
    assert list(bridge_faults(Config(bridge=bridge.model_copy(update={"to_kafka": []})))) == []
