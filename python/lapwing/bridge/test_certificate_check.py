"""Is it found why a server's certificate is not accepted? A server of a few lines shows one."""

from __future__ import annotations

import re
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
import trustme

from lapwing.bridge.certificate_check import problem_of_certificate, speaks_tls


@pytest.fixture
def server(tmp_path: Path) -> Iterator[int]:
    """Port on 127.0.0.1, with a certificate for that address; `ca.pem` in the test's folder has signed it."""
    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    trustme.CA().cert_pem.write_to_path(str(tmp_path / "other.pem"))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        with suppress(OSError):  # closed
            while True:
                plain, _ = listener.accept()
                with plain, suppress(OSError), context.wrap_socket(plain, server_side=True) as secure:
                    secure.recv(1)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    yield listener.getsockname()[1]
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()
    thread.join()


@pytest.mark.parametrize(
    ("host", "ca", "expected"),
    [
        ("127.0.0.1", "ca.pem", ""),
        ("127.0.0.1", "other.pem", ".*(local issuer|self.signed).*"),
        ("localhost", "ca.pem", ".*mismatch.*localhost.*"),
        ("127.0.0.1", "missing.pem", ""),
    ],
)
def test_what_is_wrong(server: int, tmp_path: Path, host: str, ca: str, expected: str) -> None:
    problem = problem_of_certificate(f"{host}:{server}", str(tmp_path / ca))
    assert re.fullmatch(expected, problem), problem


def test_whether_it_speaks_tls(server: int) -> None:
    assert speaks_tls(f"127.0.0.1:{server}")


def test_nobody_there_is_no_answer(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    assert problem_of_certificate(f"127.0.0.1:{port}", "") == ""
    assert not speaks_tls(f"127.0.0.1:{port}")
