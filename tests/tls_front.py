"""TLS in front of a plain port: what a client over TLS sees, whatever the broker's own listeners can."""

from __future__ import annotations

import socket
import ssl
import threading
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

import trustme

TIMEOUT_S = 60


class TlsFront:
    """Takes TLS on ``port``, with a certificate for localhost, and passes everything on to ``target``.

    Args:
        target: Port on loopback.
        folder: Gets ``ca.pem``, and ``client.pem`` with a client's certificate and key.
        wants_client: Refuse clients without a certificate.
    """

    def __init__(self, target: int, folder: Path, *, wants_client: bool = False) -> None:
        authority = trustme.CA()
        self.ca, self.client = folder / "ca.pem", folder / "client.pem"
        authority.cert_pem.write_to_path(self.ca)
        authority.issue_cert("client").private_key_and_cert_chain_pem.write_to_path(self.client)
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        authority.issue_cert("localhost").configure_cert(self._context)
        if wants_client:
            authority.configure_trust(self._context)
            self._context.verify_mode = ssl.CERT_REQUIRED
        self._target = target
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                plain, _ = self._listener.accept()
            except OSError:
                return  # closed
            threading.Thread(target=self._carry, args=(plain,), daemon=True).start()

    def _carry(self, plain: socket.socket) -> None:
        try:
            secure = self._context.wrap_socket(plain, server_side=True)
            behind = socket.create_connection(("127.0.0.1", self._target), TIMEOUT_S)
        except OSError:
            plain.close()
            return
        threading.Thread(target=_pump, args=(behind, secure), daemon=True).start()
        _pump(secure, behind)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._listener.close()


def _pump(source: socket.socket, sink: socket.socket) -> None:
    try:
        while data := source.recv(65_536):
            sink.sendall(data)
    except OSError:
        pass
    finally:
        for end in (source, sink):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
