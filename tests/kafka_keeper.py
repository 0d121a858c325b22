"""A process that keeps one Kafka server for as long as somebody uses it: ``kafka_keeper.py FOLDER``.

Whoever uses the server holds a shared lock on ``FOLDER/users``; see `shared_kafka`. The kernel takes a lock away with
the process that had it, however that ended: so nothing has to be counted, and the server outlives nobody.
"""

from __future__ import annotations

import fcntl
import json
import signal
import sys
from pathlib import Path

from kafka_certificates import KafkaCertificates

from lapwing.lab.kafka import LocalKafka

PASSWORD = "correct-horse-battery"
NEWCOMER = "newcomer"
"""A user who may do nothing, until a test lets him."""
USERS = ("bridge", "pipeline")
"""Who may do everything, as a client with a certificate may."""
ADDRESSES = "addresses.json"
"""There while the server can be used."""
SETTINGS = {
    # A topic that a test forgot, or whose name is wrong, shows.
    "auto.create.topics.enable": "false",
    "super.users": ";".join(f"User:{name}" for name in ("ANONYMOUS", "certified", *USERS)),
    "ssl.principal.mapping.rules": "RULE:^.*$/certified/",
}


def keep(folder: Path) -> None:
    """Starts the server, says ``ready``, and ends it when the last one who used it has gone."""
    files = KafkaCertificates.make(folder)
    users = dict.fromkeys((*USERS, NEWCOMER), PASSWORD)
    kafka = LocalKafka(folder / "kafka", users=users, keystore=files.keystore, client_ca=files.ca, settings=SETTINGS)
    try:
        kafka.start()
        addresses = {
            "bootstrap": kafka.bootstrap,
            "sasl_bootstrap": kafka.sasl_bootstrap,
            "sasl_plaintext_bootstrap": kafka.sasl_plaintext_bootstrap,
            "tls_bootstrap": kafka.tls_bootstrap,
            "pid": kafka.pid,
        }
        (folder / ADDRESSES).write_text(json.dumps(addresses))
        print("ready", flush=True)
        with (folder / "users").open("r+") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            # Whoever comes now waits for the lock, and then sees that there is no server any more. The folder itself
            # may be gone: a run removes what it wrote.
            (folder / ADDRESSES).unlink(missing_ok=True)
            kafka.kill()
    finally:
        kafka.kill()


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    keep(Path(sys.argv[1]))
