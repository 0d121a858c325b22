"""A standalone Spark cluster on this machine: a master and workers, each a process of its own; PySpark ships them."""

from __future__ import annotations

import json
import os
import subprocess
import time
import urllib.request
from pathlib import Path
from types import TracebackType
from typing import Self

import pyspark

from lapwing.lab.ports import free_ports

READY_S = 90.0
HOME = Path(pyspark.__file__).parent
"""Of Spark, as PySpark brings it."""

_DEPLOY = "org.apache.spark.deploy"


class SparkCluster:
    """`url` is what `--master` takes; all ends with the block."""

    def __init__(self, folder: Path, workers: int = 2) -> None:
        self._folder, self._workers = folder, workers
        port, self._page = free_ports(2)
        self._port = port
        self.url = f"spark://127.0.0.1:{port}"
        self._running: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> Self:
        try:
            here = ["--host", "127.0.0.1", "--webui-port"]
            self._start("master", f"{_DEPLOY}.master.Master", *here, str(self._page), "--port", str(self._port))
            self._until(lambda told: told is not None)
            for number in range(self._workers):
                folder = str(self._folder / f"worker{number}")
                size = ["--cores", "1", "--memory", "1g", "--work-dir", folder]
                self._start(f"worker{number}", f"{_DEPLOY}.worker.Worker", *here, "0", *size, self.url)
            self._until(lambda told: told is not None and told["aliveworkers"] == self._workers)
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()

    def executors(self) -> int:
        """Executor processes that have been started, by their folders."""
        return len(list(self._folder.glob("worker*/app-*/*/stderr")))

    def applications(self) -> list[str]:
        """Names of the applications that have ended, or run."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self._page}/json/", timeout=10) as answer:
            told = json.load(answer)
        return [each["name"] for each in (*told["activeapps"], *told["completedapps"])]

    def _start(self, name: str, main: str, *arguments: str) -> None:
        environment = os.environ | {"SPARK_HOME": str(HOME), "SPARK_DAEMON_MEMORY": "256m", "SPARK_NO_DAEMONIZE": "1"}
        with (self._folder / f"{name}.log").open("wb") as log:
            command = [str(HOME / "bin" / "spark-class"), main, *arguments]
            started = subprocess.Popen(command, stdout=log, stderr=log, env=environment, start_new_session=True)
        self._running.append(started)

    def _until(self, ready: object) -> None:
        deadline = time.monotonic() + READY_S
        while not ready(self._told()):  # type: ignore[operator]
            assert all(each.poll() is None for each in self._running), self._logs()
            assert time.monotonic() < deadline, self._logs()
            time.sleep(0.2)

    def _told(self) -> dict[str, int] | None:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self._page}/json/", timeout=2) as answer:
                told: dict[str, int] = json.load(answer)
                return told
        except (OSError, ValueError):  # not there yet, or it has no page yet
            return None

    def _logs(self) -> str:
        return "\n".join(log.read_text()[-2000:] for log in self._folder.glob("*.log"))

    def _end(self) -> None:
        for each in reversed(self._running):
            each.terminate()
        for each in self._running:
            try:
                each.wait(30)
            except subprocess.TimeoutExpired:
                each.kill()
