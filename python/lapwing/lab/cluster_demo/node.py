"""One node: its folder, its addresses, and its process while it runs."""

from __future__ import annotations

import http.client
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from lapwing.config.toml_text import toml_value
from lapwing.errors import BrokerError, LapwingError
from lapwing.lab.cluster_demo.line import Address

HOST = "127.0.0.1"
_ASK_S = 10.0
_STOP_S = 10.0
_SHOWN_CHARACTERS = 600


class DemoNode:
    """A broker with ``[cluster]``, whose configuration lies beside its data.

    Attributes:
        name: What the cluster calls it.
        config: The file that it is started with.
        log: What it says.
        address: Where clients connect while it serves.
        http_url: Where it is asked.
    """

    def __init__(self, folder: Path, name: str, ports: tuple[int, int, int]) -> None:
        peers, mqtt, http_port = ports
        self.name = name
        self.config, self.log = folder / f"{name}.toml", folder / f"{name}.log"
        self.address = Address(name, HOST, mqtt)
        self.http_url = f"http://{HOST}:{http_port}"
        self._http_port = http_port
        self._process: subprocess.Popen[bytes] | None = None
        self.config.write_text(_configuration(folder / name, name, peers, mqtt, http_port), encoding="utf-8")

    @property
    def is_running(self) -> bool:
        """Whether there is a process."""
        return self._process is not None and self._process.poll() is None

    def start(self) -> None:
        """Starts it, and does not wait."""
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(  # noqa: S603 (this program, with arguments of our own)
                [*_LAPWING, "broker", "--config", str(self.config)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=_environment(),
                # Ctrl-C is for the demo: it decides what ends first.
                start_new_session=True,
            )

    def kill(self) -> None:
        """SIGKILL, as a crash; returns when it is gone."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def ask_to_end(self) -> None:
        """As an operator does."""
        if self._process is not None:
            self._process.terminate()

    def stop(self) -> None:
        """Ends it; kills it where that takes long."""
        self.ask_to_end()
        if self._process is None:
            return
        try:
            self._process.wait(_STOP_S)
        except subprocess.TimeoutExpired:
            pass  # the demo is over in any case
        finally:
            self.kill()

    def check(self) -> None:
        """Raises `BrokerError` where it was started and has ended by itself."""
        if self._process is None or self._process.poll() is None:
            return
        words = self.log.read_text(errors="replace")[-_SHOWN_CHARACTERS:]
        raise BrokerError(f"{self.name} ended with code {self._process.returncode}: {words}", where=str(self.log))

    def serves(self) -> bool:
        """Whether clients can connect to it."""
        return self.is_running and self._get("/readyz") is not None

    def status(self) -> dict[str, Any] | None:
        """The cluster as it sees it; None while it does not say."""
        body = self._get("/v1/cluster")
        return None if body is None else json.loads(body)

    def _get(self, path: str) -> bytes | None:
        connection = http.client.HTTPConnection(HOST, self._http_port, timeout=_ASK_S)
        try:
            connection.request("GET", path)
            answer = connection.getresponse()
            body = answer.read()
        except (OSError, http.client.HTTPException):
            return None  # it is not there yet, or any more
        finally:
            connection.close()
        return body if answer.status == 200 else None


_LAPWING = [sys.executable, "-m", "lapwing"]


def lapwing(*arguments: str) -> str:
    """Runs one command to its end, as a user does; gives what it has printed.

    Raises:
        LapwingError: it failed; with its own words.
    """
    done = subprocess.run(  # noqa: S603 (this program, with arguments of our own)
        [*_LAPWING, *arguments], capture_output=True, text=True, check=False, env=_environment()
    )
    if done.returncode:
        what = done.stderr.strip().removeprefix("error: ") or f"exit code {done.returncode}"
        raise LapwingError(f"lapwing {arguments[0]} {arguments[1]}: {what}")
    return done.stdout.strip()


def _environment() -> dict[str, str]:
    """Without settings of Lapwing that whoever runs the demo has; modules come from where ours did."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("LAPWING_")}
    return kept | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}


def _configuration(data: Path, name: str, peers: int, mqtt: int, http_port: int) -> str:
    broker: dict[str, object] = {
        "data": str(data.absolute()),
        "listen": [f"tcp://{HOST}:{mqtt}"],
        "http": f"{HOST}:{http_port}",
        # Three nodes share the cores of one machine.
        "pin": False,
    }
    cluster: dict[str, object] = {"name": name, "listen": f"{HOST}:{peers}"}
    tables = {"broker": broker, "cluster": cluster}
    return "\n".join(
        f"[{table}]\n" + "".join(f"{key} = {toml_value(value)}\n" for key, value in keys.items())
        for table, keys in tables.items()
    )
