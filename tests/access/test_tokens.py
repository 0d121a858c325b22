"""Clients with tokens (JWT), their settings and their files, from outside."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import wire
from commands import call
from cryptography.hazmat.primitives.asymmetric import ec
from peer import Peer
from tokens import Curve, Edwards, Rsa, hs256, token
from wire import CONNACK

import lapwing
from lapwing.broker_tables import checked_config
from lapwing.config import Config
from lapwing.errors import ConfigError, LapwingError

SECRET = b"an example of a secret: forty-eight bytes, or so"


@pytest.fixture(scope="module")
def rsa_key() -> Rsa:
    return Rsa()


def config_with(jwt: dict[str, Any], **more: Any) -> Config:
    broker = {"listen": ["tcp://127.0.0.1:0"], "http": None, "durability": "memory", "pin": False, "shards": 1}
    return checked_config({"broker": broker, "auth": {"jwt": jwt}, **more})


def answer(broker: lapwing.Broker, password: str, version: int = 5) -> int:
    """The code of the CONNACK."""
    return asked(broker.url, version, username="whoever", password=password)


def asked(url: str, version: int = 5, **credentials: str) -> int:
    """The same, with other credentials or none."""
    with Peer(url, version) as peer:
        peer.send(wire.connect("c", version=version, **credentials))
        return int(peer.expect(CONNACK).reason)


def written(folder: Path, name: str, content: bytes | str) -> Path:
    file = folder / name
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    file.chmod(0o600)
    return file


def test_signatures_of_another_library(tmp_path: Path, rsa_key: Rsa) -> None:
    """Does each kind of key let in with its own algorithms, from PEM; and none with the secret of another?"""
    p256, p384, edwards = Curve(ec.SECP256R1()), Curve(ec.SECP384R1()), Edwards()
    keys = [rsa_key.pem, p256.pem, p384.pem, edwards.pem]
    files = [
        written(tmp_path, "one.pem", b"".join(keys[:2])),
        *(written(tmp_path, f"{n}.pem", k) for n, k in enumerate(keys[2:])),
    ]
    jwt = {"key_files": files, "algorithms": ["RS256", "PS384", "ES256", "ES384", "EdDSA"]}
    with lapwing.Broker.from_config(config_with(jwt)) as broker:
        for name, sign in [
            ("RS256", rsa_key.rs256),
            ("PS384", rsa_key.ps384),
            ("ES256", p256.sign),
            ("ES384", p384.sign),
            ("EdDSA", edwards.sign),
        ]:
            assert answer(broker, token({"alg": name}, sign)) == 0, name
            assert answer(broker, token({"alg": name}, sign), version=4) == 0, name
        assert answer(broker, token({"alg": "ES256"}, p384.sign)) == 0x86
        for pem in keys:  # the oldest trick: a public key as the secret of HMAC
            for secret in (pem, pem.strip()):
                assert answer(broker, token({"alg": "HS256"}, hs256(secret))) == 0x86
        assert answer(broker, token({"alg": "none"}, lambda _: b"")) == 0x86
        assert answer(broker, "eyJ" + "A" * 50_000 + "..") == 0x86
        assert broker.metrics()['lapwing_tokens_refused_total{reason="too_long"}'] == 1


def test_a_reload_takes_the_file_whole_or_not_at_all(tmp_path: Path, rsa_key: Rsa) -> None:
    """Does an empty or cut-off set say so and change nothing, and does a whole one rotate?"""
    other = Rsa()
    old, new = rsa_key.jwk(kid="old"), other.jwk(kid="new")
    file = written(tmp_path, "jwks.json", json.dumps({"keys": [old]}))
    of_old, of_new = (token({"alg": "RS256", "kid": kid}, key.rs256) for kid, key in (("old", rsa_key), ("new", other)))
    with lapwing.Broker.from_config(config_with({"jwks_file": file, "algorithms": ["RS256"]})) as broker:
        assert (answer(broker, of_old), answer(broker, of_new)) == (0, 0x86)
        whole = json.dumps({"keys": [old, new]})
        for bad in ("", "{}", '{"keys": []}', whole[:-20], json.dumps({"keys": [{"kty": "oct", "k": "AAAA"}]})):
            file.write_text(bad)
            with pytest.raises(ConfigError, match=r"auth\.jwt\.jwks_file"):
                broker.reload()
            assert (answer(broker, of_old), answer(broker, of_new)) == (0, 0x86), bad
        file.unlink()
        with pytest.raises(ConfigError, match="cannot be read"):
            broker.reload()
        written(tmp_path, "jwks.json", whole)
        broker.reload()
        assert (answer(broker, of_old), answer(broker, of_new)) == (0, 0)


def test_what_stands_in_a_token_is_in_no_trail(tmp_path: Path) -> None:
    trail = tmp_path / "audit.jsonl"
    jwt = {"secret_file": written(tmp_path, "secret", SECRET + b"\n"), "algorithms": ["HS256"]}
    good = token({"alg": "HS256"}, hs256(SECRET), email="alice@secret.example")
    with lapwing.Broker.from_config(config_with(jwt, audit={"file": trail})) as broker:
        assert answer(broker, good) == 0
        assert answer(broker, good[:-2]) == 0x86
        assert asked(broker.url, username=good, password="") == 0x86
        notices = "\n".join(broker.notices())
    told = trail.read_text() + notices
    assert '"by":"token"' in told.replace(" ", "")
    assert "eyJ" not in told
    assert "secret.example" not in told


def check(folder: Path, jwt: str) -> tuple[int, str]:
    """What ``lapwing config check`` says of a table."""
    written(folder, "lapwing.toml", f"[auth.jwt]\n{jwt}")
    result = call("config", "check", "--running", "lapwing.toml", cwd=folder)
    return result.returncode, result.stderr


@pytest.mark.parametrize(
    ("jwt", "expected"),
    [
        ('secret_file = "none"\nalgorithms = ["HS256"]', "none cannot be read"),
        ('secret_file = "short"\nalgorithms = ["HS256"]', "wants 32 at least"),
        ('secret_file = "secret"\nalgorithms = ["HS512"]', "wants 64 at least"),
        ('secret_file = "key.pem"\nalgorithms = ["HS256"]', "is a PEM"),
        ('secret_file = "secret"', "algorithms"),
        ('secret_file = "secret"\nalgorithms = ["RS256"]', "a secret cannot check"),
        ('key_files = "key.pem"\nalgorithms = ["HS256"]', "public keys must never check"),
        ('key_files = "key.pem"\nalgorithms = ["none"]', "algorithms"),
        ('key_files = "key.pem"\nalgorithms = ["ES256"]', "no key for any of the algorithms"),
        ('key_files = "weak.pem"\nalgorithms = ["RS256"]', "1024 bits"),
        ('key_files = "cut.pem"\nalgorithms = ["RS256"]', "cut off"),
        ('jwks_file = "empty.json"\nalgorithms = ["RS256"]', "cut off"),
        ('jwks_url = "http://issuer.example/"\nalgorithms = ["RS256"]', "jwks_plain = true"),
        ('jwks_url = "https://me:secret@issuer.example/"\nalgorithms = ["RS256"]', "no user and password"),
        ('jwks_url = "ftp://issuer.example/"\nalgorithms = ["RS256"]', "must be a URL"),
        ('jwks_url = "https://issuer.example/"\njwks_ca = "secret"\nalgorithms = ["RS256"]', "authorities"),
        ('algorithms = ["RS256"]', "name where the keys are"),
        ('secret_file = "secret"\njwks_file = "empty.json"\nalgorithms = ["HS256"]', "one place"),
    ],
)
def test_config_check_names_what_is_wrong(tmp_path: Path, rsa_key: Rsa, jwt: str, expected: str) -> None:
    for name, content in (
        ("secret", SECRET),
        ("short", SECRET[:31]),
        ("key.pem", rsa_key.pem),
        ("weak.pem", Rsa(1024).pem if "weak" in jwt else b""),
        ("cut.pem", rsa_key.pem[:200]),
        ("empty.json", b""),
    ):
        written(tmp_path, name, content)
    code, said = check(tmp_path, jwt)
    assert code == 2, said
    assert expected in said, said
    assert SECRET[:20].decode() not in said
    assert "me:secret" not in said


def test_config_check_of_good_settings(tmp_path: Path, rsa_key: Rsa) -> None:
    written(tmp_path, "secret", SECRET)
    written(tmp_path, "key.pem", rsa_key.pem)
    for jwt in (
        'secret_file = "secret"\nalgorithms = ["HS256", "HS384"]',
        'key_files = "key.pem"\nalgorithms = ["RS256"]\naudience = "mqtt"',
        'jwks_url = "http://127.0.0.1:1/"\nalgorithms = ["RS256"]\naudience = "mqtt"',
    ):
        code, said = check(tmp_path, jwt)
        assert code == 0, said
        assert "auth.jwt" not in said
    code, said = check(tmp_path, 'key_files = "key.pem"\nalgorithms = ["RS256"]')
    assert code == 0
    assert "auth.jwt.audience" in said


def test_a_listener_beyond_loopback_may_have_tokens_alone(tmp_path: Path) -> None:
    jwt = {"secret_file": written(tmp_path, "secret", SECRET), "algorithms": ["HS256"]}
    broker = {"listen": ["tcp://0.0.0.0:0"], "http": None, "durability": "memory", "pin": False, "shards": 1}
    with pytest.raises(LapwingError, match="beyond loopback"):
        lapwing.Broker.from_config(checked_config({"broker": broker}))
    config = checked_config({"broker": broker, "auth": {"jwt": jwt}})
    with lapwing.Broker.from_config(config) as running:
        url = running.url.replace("0.0.0.0", "127.0.0.1")
        assert asked(url) == 0x87
        assert asked(url, password=token({"alg": "HS256"}, hs256(SECRET))) == 0
