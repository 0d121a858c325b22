"""Do PySpark's threads say into a file, and nowhere else, that the JVM is gone?"""

from __future__ import annotations

import logging
import socketserver
from pathlib import Path

import pytest

from lapwing.pipeline.last_words import LastWords


def record(file: str) -> logging.LogRecord:
    return logging.LogRecord("root", logging.ERROR, file, 1, "Exception while sending command.", (), None)


def test_only_what_py4j_says_goes_to_the_file(tmp_path: Path) -> None:
    words = LastWords(tmp_path / "spark.log")
    assert words.filter(record("/x/mine.py"))
    assert not (tmp_path / "spark.log").exists()
    assert not words.filter(record("/x/py4j/java_gateway.py"))
    assert "ERROR java_gateway: Exception while sending command." in (tmp_path / "spark.log").read_text()


def test_an_error_of_a_server_is_there_with_its_cause(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    class Server(socketserver.BaseServer):
        def finish_request(self, *_of_whom: object) -> None:
            raise EOFError("the JVM is gone")

        def verify_request(self, *_of_whom: object) -> bool:
            return True

        def get_request(self) -> tuple[None, tuple[str, int]]:
            return None, ("", 0)

        def shutdown_request(self, _request: object) -> None:
            """It has none."""

    server = Server(("", 0), socketserver.BaseRequestHandler)
    server.handle_error = LastWords(tmp_path / "spark.log").handle_error  # type: ignore[method-assign]
    server._handle_request_noblock()  # type: ignore[attr-defined]
    assert "EOFError: the JVM is gone" in (tmp_path / "spark.log").read_text()
    assert capfd.readouterr() == ("", "")
