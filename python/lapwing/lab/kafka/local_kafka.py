"""One Kafka server as a process of its own, started, stopped, killed and paused by whoever holds it."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from lapwing.errors import BrokerError, ConfigError, TimedOutError
from lapwing.lab.kafka.jars import find_jars
from lapwing.lab.kafka.settings import Guard, Ports, Seat, as_text, new_cluster, scram_credentials, server_properties
from lapwing.lab.kafka.topics import create_topic
from lapwing.lab.ports import free_ports

_READY_S = 180.0
_STOP_S = 30.0
_ASK_S = 0.2
_SHOWN_CHARACTERS = 600
_LOGGING = Path(__file__).with_name("log4j2.properties")


class LocalKafka:
    """A Kafka server on loopback, with a folder and ports that it keeps over restarts: one node, alone or of a cluster.

    Args:
        folder: Made if missing; what is in it from before is used: the server goes on with its topics.
        seat: Its place among several nodes, which whoever holds them begins together; None: it is alone.
        heap: Of the JVM, as ``-Xmx`` takes it.
        settings: Settings of the server that go before ours, as ``{"message.max.bytes": "2000000"}``.
        users: Name -> password: a listener ``sasl_bootstrap`` for SASL, PLAIN and SCRAM-SHA-512 (that one with the
            users of its first start). What they may do is a matter of ACLs; whoever comes through the first listener
            may do everything. For tests: passwords are in its folder, and for a moment on a command line.
        keystore: Key (PKCS #8) and certificate for 127.0.0.1 in one PEM file: ``sasl_bootstrap`` speaks TLS, and there
            is another listener for TLS alone, ``tls_bootstrap``. Read at each start.
        client_ca: Authorities, in PEM, that sign certificates of clients: ``tls_bootstrap`` takes nobody without one.
        jars: The folder with the server's jars; None: see ``find_jars``.
        environment: Variables of the server's process, besides those of this one.

    Attributes:
        bootstrap: ``127.0.0.1:PORT`` of the listener without passwords.
        sasl_bootstrap: That of the one with; empty without ``users``.
        sasl_plaintext_bootstrap: That of the one with them and without TLS: the same where there is no ``keystore``.
        tls_bootstrap: That of the one for TLS alone; empty without ``keystore``.
        log: What the server says.

    Raises:
        ConfigError: no Java, or no jars; says how to get them.
    """

    def __init__(
        self,
        folder: str | Path,
        *,
        seat: Seat | None = None,
        heap: str = "512m",
        settings: Mapping[str, str] | None = None,
        users: Mapping[str, str] | None = None,
        keystore: Path | None = None,
        client_ca: Path | None = None,
        jars: Path | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.folder = Path(folder).absolute()
        self.log = self.folder / "kafka.log"
        self._jars = jars or find_jars()
        self._java = _find_java()
        self._heap = heap
        self._environment = {**os.environ, **(environment or {})}
        self._guard = Guard(users or {}, keystore, client_ca)
        plain, controller, sasl, sasl_tls, tls = free_ports(5)
        ports = Ports(
            plain, sasl if users else None, sasl_tls if users and keystore else None, tls if keystore else None
        )
        self.bootstrap = f"127.0.0.1:{plain}"
        self.sasl_plaintext_bootstrap = _address(ports.sasl)
        self.sasl_bootstrap = _address(ports.sasl_tls or ports.sasl)
        self.tls_bootstrap = _address(ports.tls)
        seat = seat or Seat(1, {1: controller}, new_cluster())
        self._cluster = seat.cluster
        self._properties = server_properties(self.folder / "data", seat, ports, self._guard, settings)
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int | None:
        """Its process; None while it is not running."""
        process = self._process
        return process.pid if process is not None and process.poll() is None else None

    @property
    def is_running(self) -> bool:
        """Whether there is a process, ready or not, paused or not."""
        return self._process is not None and self._process.poll() is None

    @property
    def exit_code(self) -> int | None:
        """That of the process, once it has ended; None while it runs, and before."""
        return None if self._process is None else self._process.poll()

    def start(self, timeout_s: float = _READY_S) -> Self:
        """Starts it and waits until it answers; does nothing while it runs.

        Raises:
            BrokerError: it ended; with the last lines of its log.
            TimedOutError: it does not answer in time.
        """
        if not self.is_running:
            self.begin()
        self.wait_until_ready(timeout_s)
        return self

    def begin(self) -> None:
        """Starts it and does not wait."""
        self._prepare()
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(  # noqa: S603 (Java, with arguments of our own)
                [*self._command("kafka.Kafka"), str(self._settings_file)],
                stdout=log,
                stderr=log,
                stdin=subprocess.DEVNULL,
                cwd=self.folder,
                env=self._environment,
                # Ctrl-C is for whoever started us: it decides what ends first.
                start_new_session=True,
            )

    def wait_until_ready(self, timeout_s: float = _READY_S) -> None:
        """Until an admin client gets an answer; errors as for `start`."""
        from confluent_kafka import KafkaException
        from confluent_kafka.admin import AdminClient

        admin = AdminClient({"bootstrap.servers": self.bootstrap, "log_level": 0, "reconnect.backoff.max.ms": 100})
        deadline = time.monotonic() + timeout_s
        while time.monotonic() < deadline:
            if not self.is_running:
                raise BrokerError(f"Kafka ended: {self._last_words()}", where=str(self.log))
            try:
                # The metadata of a node that is starting names no broker yet.
                if admin.list_topics(timeout=_ASK_S).brokers:
                    return
            except KafkaException:
                continue
        raise TimedOutError(f"Kafka does not answer within {timeout_s:g} s", where=str(self.log), remedy="see its log")

    def create_topic(
        self, name: str, partitions: int = 1, settings: Mapping[str, str] | None = None, copies: int = 1
    ) -> None:
        """See `topics.create_topic`."""
        create_topic(self.bootstrap, name, partitions, settings, copies)

    def stop(self, timeout_s: float = _STOP_S) -> None:
        """Lets it end in order (SIGTERM); kills it when that takes longer."""
        process = self._process
        if process is None or process.poll() is not None:
            return
        self.resume()
        process.terminate()
        try:
            process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def kill(self) -> None:
        """SIGKILL, as a crash; returns when it is gone."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def pause(self) -> None:
        """SIGSTOP: connections stand, and nobody answers."""
        self._signal(signal.SIGSTOP)

    def resume(self) -> None:
        """SIGCONT, after `pause`."""
        self._signal(signal.SIGCONT)

    def __enter__(self) -> Self:
        try:
            return self.start()
        except BaseException:
            self.kill()
            raise

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _signal(self, number: signal.Signals) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(number)

    @property
    def _settings_file(self) -> Path:
        return self.folder / "server.properties"

    def _command(self, main: str) -> list[str]:
        options = [f"-Xmx{self._heap}", "-XX:+UseSerialGC", "-Djava.awt.headless=true"]
        return [self._java, *options, f"-Dlog4j2.configurationFile={_LOGGING}", "-cp", f"{self._jars}/*", main]

    def _prepare(self) -> None:
        """Writes the settings, and formats the folder once."""
        self.folder.mkdir(parents=True, exist_ok=True)
        # It may hold passwords.
        self._settings_file.touch(mode=0o600)
        self._settings_file.write_text(as_text(self._properties))
        if (self.folder / "data" / "meta.properties").exists():
            return
        command = [*self._command("kafka.tools.StorageTool"), "format", "--ignore-formatted"]
        command += ["-t", self._cluster, "-c", str(self._settings_file), *scram_credentials(self._guard.users)]
        done = subprocess.run(command, capture_output=True, timeout=_READY_S, check=False)  # noqa: S603
        (self.folder / "storage-tool.log").write_bytes(done.stdout + done.stderr)
        if done.returncode:
            said = (done.stdout + done.stderr).decode(errors="replace").strip()[-_SHOWN_CHARACTERS:]
            raise BrokerError(f"Kafka's folder could not be formatted: {said}", where=str(self.folder))

    def _last_words(self) -> str:
        return self.log.read_text(errors="replace")[-_SHOWN_CHARACTERS:].strip() or "it said nothing"


def _address(port: int | None) -> str:
    """Empty where there is no such listener."""
    return f"127.0.0.1:{port}" if port else ""


def _find_java() -> str:
    home = os.environ.get("JAVA_HOME")
    found = shutil.which("java", path=f"{home}/bin" if home else None) or shutil.which("java")
    if found is None:
        raise ConfigError("Java is not on the PATH", where="java", remedy="install Java 17 or later")
    return found
