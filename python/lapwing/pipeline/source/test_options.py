"""Does a wrong address or option get a line that names it?"""

from __future__ import annotations

import pytest

from lapwing.errors import ConfigError
from lapwing.pipeline.source.address import StreamAddress
from lapwing.pipeline.source.options import SourceOptions

URL = "http://127.0.0.1:8080/v1/streams/readings"


@pytest.mark.parametrize(
    ("url", "said"),
    [
        (URL, URL),
        ("http://host:1", "http://host:1/v1/streams/readings"),
        ("http://host:1/v1/streams/a%20b/", "http://host:1/v1/streams/a%20b"),
        ("https://host/v1/streams/x", "https://host:443/v1/streams/x"),
        ("http://[::1]:80/v1/streams/x", "http://[::1]:80/v1/streams/x"),
    ],
)
def test_an_address_is_read(url: str, said: str) -> None:
    assert str(StreamAddress.parse(url)) == said


@pytest.mark.parametrize("url", ["", "host:1", "ftp://host/x", "http://", "http://h:99999", f"{URL}/0", f"{URL}?a=1"])
def test_no_address_is_refused(url: str) -> None:
    with pytest.raises(ConfigError, match=r"HTTP|URL|stream"):
        StreamAddress.parse(url)


def test_options_are_typed_and_case_does_not_count() -> None:
    options = SourceOptions.parse({"URL": URL, "max_rows_per_BATCH": "5", "timeout_s": "0.5", "start": '{"0": 3}'})
    assert (options.max_rows_per_batch, options.timeout_s) == (5, 0.5)
    assert options.start_offsets() == {0: 3}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("on_trimmed", "ignore"),
        ("max_rows_per_batch", "many"),
        ("max_rows_per_batch", "-1"),
        ("start", "middle"),
        ("until", "[1]"),
        ("tasks", "1.5"),
        ("colour", "red"),
    ],
)
def test_a_wrong_option_is_named(name: str, value: str) -> None:
    with pytest.raises(ConfigError, match=name):
        SourceOptions.parse({"url": URL, name: value})


def test_the_address_is_needed() -> None:
    with pytest.raises(ConfigError, match="url"):
        SourceOptions.parse({})
