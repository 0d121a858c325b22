"""Does a source's secret stay out of everything that Spark shows and writes?"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from base64 import b64encode
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from messages import envelopes, reading
from served_stream import ServedStream

pytestmark = pytest.mark.timeout(400)

SECRET = "kingf1sher-under-the-br1dge"
BASIC = b64encode(f"spark:{SECRET}".encode()).decode()
WAYS = [{"token": SECRET}, {"user": "spark", "password": SECRET}]


def contents(folder: Path) -> Iterator[tuple[Path, bytes]]:
    """Every file; the JVM may still be removing some of its own."""
    for place, _, names in os.walk(folder):
        for file in (Path(place, name) for name in names):
            with suppress(FileNotFoundError):
                if file.is_file():
                    yield file, file.read_bytes()


@pytest.mark.slow
def test_a_secret_is_nowhere_in_what_spark_leaves_behind(tmp_path: Path) -> None:
    stream = ServedStream(partitions=2, authorization={f"Bearer {SECRET}", f"Basic {BASIC}"})
    stream.append(0, envelopes([reading("d0", number) for number in range(30)]))
    folder = tmp_path / "spark"
    folder.mkdir()
    script = str(Path(__file__).with_name("secret_job.py"))
    try:
        ran = subprocess.run(
            [sys.executable, script, stream.url, str(folder), json.dumps(WAYS)],
            capture_output=True,
            timeout=360,
            check=False,
        )
    finally:
        stream.close()
    said = ran.stdout + ran.stderr
    assert ran.returncode == 0, said.decode()[-3000:]
    assert (ran.stdout.count(b"read 30"), ran.stdout.count(b"streamed 30")) == (2, 2)
    assert b"found in: []" in ran.stdout, "while Spark ran"
    for hidden in (SECRET.encode(), BASIC.encode()):
        assert hidden not in said
        assert [file for file, body in contents(folder) if hidden in body] == []
    assert any((folder / "events").rglob("*")), "the event log was looked at"
    assert (folder / "spark.log").stat().st_size > 10_000, "and a log with much in it"
