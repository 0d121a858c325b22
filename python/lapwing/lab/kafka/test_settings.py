"""Settings of a local Kafka, as Java will read them."""

from __future__ import annotations

from lapwing.lab.kafka.settings import as_text


def test_java_reads_a_properties_file_as_latin_1() -> None:
    assert as_text({"log.dirs": "/tmp/ü \\ 😀"}) == "log.dirs=/tmp/\\u00fc \\\\ \\ud83d\\ude00\n"
