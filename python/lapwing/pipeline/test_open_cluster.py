"""Is a cluster on which nobody authenticates told of, once, and no other?"""

from __future__ import annotations

import logging

import pytest

from lapwing.pipeline import open_cluster
from lapwing.pipeline.open_cluster import tell_if_open


def test_it_is_told_once_with_what_to_do(caplog: pytest.LogCaptureFixture) -> None:
    open_cluster._tell.cache_clear()
    with caplog.at_level(logging.WARNING, "lapwing.pipeline"):
        tell_if_open("spark://host:7077", lambda _name, _default: "true")
        tell_if_open("spark://host:7077", lambda _name, _default: " TRUE")
        tell_if_open("local[2,4]", lambda _name, default: default)
        assert caplog.text == ""
        for _ in range(3):
            tell_if_open("spark://host:7077", lambda _name, default: default)
    (record,) = caplog.records
    said = record.getMessage()
    assert "spark.authenticate is off with master spark://host:7077" in said
    assert "spark.network.crypto.enabled=true" in said
    assert "docs/files.md" in said
