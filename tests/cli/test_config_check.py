"""`lapwing config check` on files with which a broker then does not start: refused, each by what is wrong."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import trustme
from certificates import Certificates
from commands import call
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

import lapwing
from lapwing.config.load import load
from lapwing.errors import LapwingError
from lapwing.lab.ports import free_port

HEAD = '[broker]\nhttp = "off"\ndata = "data"\nlisten = ["tcp://127.0.0.1:0"]\n'
TLS = '[[listeners]]\nurl = "tls://127.0.0.1:0"\nanonymous = true\ncertificate = "c.pem"\nkey = "k.pem"\n'


def check(tmp_path: Path, text: str, *options: str) -> tuple[int, str]:
    file = tmp_path / "lapwing.toml"
    file.write_text(HEAD + text)
    done = call("config", "check", str(file), *options)
    return done.returncode, done.stderr


def start(tmp_path: Path) -> str:
    """What a start with the same file says."""
    try:
        lapwing.Broker.from_config(load(tmp_path / "lapwing.toml", environment={}).config).start().stop()
    except LapwingError as error:
        return str(error)
    return ""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[auth]\nusers = "nope.toml"\n', "nope.toml"),
        ('[hooks]\nuse = "nosuch.module:Class"\n', "nosuch"),
        (TLS, "c.pem"),
        ("[audit]\nfile = 'no/such/folder/a.jsonl'\n", "a.jsonl"),
    ],
)
def test_what_a_start_refuses_the_check_refuses(tmp_path: Path, text: str, said: str) -> None:
    code, told = check(tmp_path, text)
    assert code == 2
    assert said in told
    assert said in start(tmp_path)


def test_what_a_start_is_given_as_a_flag_is_checked_with_it(tmp_path: Path) -> None:
    assert check(tmp_path, "")[0] == 0
    code, told = check(tmp_path, "", "--set", "broker.http=0.0.0.0:8088")
    assert code == 2
    assert "broker.http" in told
    assert "broker.shardz" in check(tmp_path, "", "--set", "broker.shardz=2")[1]


def test_one_fault_hides_no_other(tmp_path: Path) -> None:
    """Are a wrong key, limits against each other, and each file that is not there told in one go?"""
    (tmp_path / "u.toml").write_text("[broken")
    (tmp_path / "s").write_text("short")
    auth = '[auth]\nusers = "u.toml"\n[auth.jwt]\nalgorithms = ["RS256"]\nkey_files = ["a.pem", "b.pem"]\n'
    code, told = check(
        tmp_path, f'{auth}[auth.http]\nurl = "https://h/"\nca = "ca.pem"\nauthorization_file = "t"\n{TLS}'
    )
    assert code == 2
    for said in ("u.toml", "a.pem", "b.pem", "ca.pem", "/t cannot be read", "c.pem", "k.pem"):
        assert said in told
    limits = '[limits]\nnonsense = 1\noutput_high_bytes = "9MiB"\n'
    _, told = check(tmp_path, f'{limits}[auth.jwt]\nalgorithms = ["RS256"]\njwks_file = "set"\n{TLS}')
    for said in ("limits.nonsense", "output_high_bytes = 9MiB", "/set cannot be read", "c.pem"):
        assert said in told
    (tmp_path / "lapwing.toml").write_text(
        '[broker]\nhttp = "127.0.0.1:0"\nlisten = ["tcp://127.0.0.1:0"]\n[http]\ncertificate = "hc"\nclient_ca = "ha"\n'
    )
    told = call("config", "check", str(tmp_path / "lapwing.toml")).stderr
    assert "http.certificate cannot be read" in told
    assert "http.client_ca cannot be read" in told


def test_a_weak_key_is_said_to_be_that(tmp_path: Path) -> None:
    made = Certificates.make(tmp_path)
    (tmp_path / "c.pem").write_bytes(made.chain.read_bytes())
    for form in (PrivateFormat.PKCS8, PrivateFormat.TraditionalOpenSSL):
        for bits, said in ((1024, "RSA of 1024 bits"), (2048, "does not belong to the certificate")):
            key = rsa.generate_private_key(65_537, bits)
            (tmp_path / "k.pem").write_bytes(key.private_bytes(Encoding.PEM, form, NoEncryption()))
            (tmp_path / "k.pem").chmod(0o600)
            assert said in check(tmp_path, TLS)[1]
            assert said in start(tmp_path)


def test_beside_a_broker_that_runs_with_it(tmp_path: Path) -> None:
    text = HEAD.replace(":0", f":{free_port()}")
    file = tmp_path / "lapwing.toml"
    file.write_text(text)
    with lapwing.Broker.from_config(load(file, environment={}).config):
        done = call("config", "check", str(file))
        assert done.returncode == 2
        assert "broker.data is in use by process" in done.stderr
        assert "another process listens there" in done.stderr
        beside = call("config", "check", str(file), "--running")
        assert (beside.returncode, beside.stdout) == (0, f"{file}: in order\n")
    assert call("config", "check", str(file)).returncode == 0


def test_what_is_out_of_its_time_is_said(tmp_path: Path) -> None:
    """By the check and by the start, and neither is a reason not to start: SIGHUP reads what is renewed."""
    made = Certificates.make(tmp_path)
    past = trustme.CA().issue_cert("localhost", not_after=datetime.now(UTC) - timedelta(days=2))
    (tmp_path / "c.pem").write_bytes(b"".join(part.bytes() for part in past.cert_chain_pems))
    past.private_key_pem.write_to_path(str(tmp_path / "k.pem"))
    (tmp_path / "users.toml").write_text("")
    text = f'[auth]\nusers = "users.toml"\n{TLS}client_ca = "{made.authority}"\nclient_certificate = "optional"\n'
    code, told = check(tmp_path, text)
    assert code == 0, told
    with lapwing.Broker.from_config(load(tmp_path / "lapwing.toml", environment={}).config) as broker:
        lines = broker.notices()
        broker.look_at_certificates()
        assert broker.notices() == []
    for said in ("(listeners.0.certificate): the certificate has expired on", "has no users: nobody comes in"):
        assert said in told
        assert [said in line for line in lines].count(True) == 1, lines
