"""One Kafka server for all processes of a test run: the first one that wants it starts it, and it ends with the last.

Nobody may stop it, or change what is not a topic of his own: tests that do so start a `LocalKafka`. It makes no topics
by itself, and has listeners for TLS and for SASL; see `kafka_keeper` for who may do what.
"""

from __future__ import annotations

import fcntl
import json
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from kafka_certificates import KafkaCertificates
from kafka_keeper import ADDRESSES

from lapwing.lab.kafka import create_topic

KEEPER = Path(__file__).with_name("kafka_keeper.py")
_SHOWN_CHARACTERS = 2_000


@dataclass(frozen=True)
class SharedKafka:
    """Where the server is.

    Attributes:
        bootstrap: The listener that asks for nothing.
        sasl_bootstrap: That for SASL over TLS.
        sasl_plaintext_bootstrap: That for SASL without TLS.
        tls_bootstrap: That for clients with a certificate.
        pid: Its process.
        files: Certificates that it has, and that its clients need.
    """

    bootstrap: str
    sasl_bootstrap: str
    sasl_plaintext_bootstrap: str
    tls_bootstrap: str
    pid: int
    files: KafkaCertificates

    def create_topic(self, name: str, partitions: int = 1, settings: Mapping[str, str] | None = None) -> None:
        """Makes a topic and waits until the server knows it."""
        create_topic(self.bootstrap, name, partitions, settings)

    def new_topic(self, name: str, partitions: int = 1, settings: Mapping[str, str] | None = None) -> str:
        """A topic that no other test has, nor this one when it is run again; gives its name, which begins so."""
        own = f"{name}-{uuid.uuid4().hex[:8]}"
        self.create_topic(own, partitions, settings)
        return own


@contextmanager
def shared_kafka(root: Path) -> Iterator[SharedKafka]:
    """The server of all who name this folder; there while at least one of them is in the block."""
    root.mkdir(parents=True, exist_ok=True)
    with (root / "door").open("a+") as door:
        # Held until there is a server: whoever comes meanwhile waits for it.
        fcntl.flock(door, fcntl.LOCK_EX)
        door.seek(0)
        folders = door.read().splitlines()
        folder = Path(folders[-1]) if folders else None
        lock = _entered(folder) if folder else None
        if folder is None or lock is None:
            folder = Path(tempfile.mkdtemp(prefix="server-", dir=root))
            lock = _started(folder)
            door.write(f"{folder}\n")
    with lock:
        yield SharedKafka(**json.loads((folder / ADDRESSES).read_text()), files=KafkaCertificates.of(folder))


def _entered(folder: Path) -> IO[str] | None:
    """Holds the keeper of this server back; None: it has ended, or does so now."""
    lock = _shared_lock(folder)
    if (folder / ADDRESSES).exists():
        return lock
    lock.close()
    return None


def _started(folder: Path) -> IO[str]:
    """Starts a server, and holds its keeper back."""
    # Before there is a keeper: one that finds nobody ends, also when this process is killed meanwhile.
    lock = _shared_lock(folder)
    log = folder / "keeper.log"
    with log.open("wb") as errors:
        keeper = subprocess.Popen(
            [sys.executable, str(KEEPER), str(folder)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            # Ctrl-C is for the tests: the keeper hears of their end.
            start_new_session=True,
        )
    with keeper.stdout:
        if keeper.stdout.readline() != b"ready\n":
            lock.close()
            raise AssertionError(f"no Kafka for the tests: {log.read_text(errors='replace')[-_SHOWN_CHARACTERS:]}")
    return lock


def _shared_lock(folder: Path) -> IO[str]:
    lock = (folder / "users").open("a")
    fcntl.flock(lock, fcntl.LOCK_SH)
    return lock
