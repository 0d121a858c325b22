"""Does a wrong address or option get a line that names it?"""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql.types import StructType

from lapwing.errors import ConfigError
from lapwing.pipeline.errors import SealedError, unsealed
from lapwing.pipeline.source.address import StreamAddress
from lapwing.pipeline.source.datasource import LapwingDataSource
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


@pytest.mark.parametrize(
    "url",
    [
        "",
        "host:1",
        "ftp://host/x",
        "http://",
        "http://h:99999",
        f"{URL}/0",
        f"{URL}?a=1",
        f"{URL}#a",
        "http://h:0",
        "http://h\n:1",
        "http://me:horse@h",
        "http://me:ho/rse@h",
        "http://me/ho/rse@h",
    ],
)
def test_no_address_is_refused(url: str) -> None:
    with pytest.raises(ConfigError, match=r"HTTP|URL|stream") as failure:
        StreamAddress.parse(url)
    assert "rse" not in str(failure.value)


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
        ("reader", "night shift"),
        ("reader", "r" * 65),
        ("tasks", "1.5"),
        ("tasks", "1" * 30),
        ("timeout_s", "0"),
        ("timeout_s", "9e9"),
        ("rows_per_request", "0"),
        ("start", '{"0": -1}'),
        ("start", '{"0": 1.5}'),
        ("start", '{"0": true}'),
        ("start", '{"0": 1, "0": 2}'),
        ("start", '{"-1": 0}'),
        ("start", '{"0": 9223372036854775808}'),
        ("colour", "red"),
    ],
)
def test_a_wrong_option_is_named(name: str, value: str) -> None:
    with pytest.raises(ConfigError, match=name):
        SourceOptions.parse({"url": URL, name: value})


def test_an_end_before_the_start_is_named() -> None:
    for start, until in (('{"0": 5}', '{"0": 5}'), ('{"1": 5}', '{"0": 4}'), ("earliest", '{"0": 0}')):
        SourceOptions.parse({"url": URL, "start": start, "until": until})
    with pytest.raises(ConfigError, match="it ends before start"):
        SourceOptions.parse({"url": URL, "start": '{"0": 5}', "until": '{"0": 4}'})


@pytest.mark.parametrize("name", ["ca", "certificate", "key"])
def test_files_for_tls_go_with_https(name: str) -> None:
    with pytest.raises(ConfigError, match=f"{name} is for TLS, and http:// has none .*: write https://"):
        SourceOptions.parse({"url": URL, name: "x.pem"})
    options = SourceOptions.parse({"url": URL.replace("http", "https"), name: "x.pem"})
    assert options.tls_files()._asdict()[name] == "x.pem"


def test_the_address_is_needed() -> None:
    with pytest.raises(ConfigError, match="url"):
        SourceOptions.parse({})


def test_secrets_are_in_no_repr_and_no_error(tmp_path: Path) -> None:
    given = {"url": URL, "user": "spark", "password": "s3cret"}
    options = SourceOptions.parse(given)
    assert options.credentials().headers() == {"Authorization": "Basic c3Bhcms6czNjcmV0"}
    assert "s3cret" not in repr(options)
    for wrong in ({**given, "token": "s3cret"}, {"url": URL, "pasword": "s3cret"}, {"url": URL, "token": "s3cret\n"}):
        with pytest.raises(ConfigError) as caught:
            SourceOptions.parse(wrong)
        assert "s3cret" not in str(caught.value)
    with pytest.raises(ConfigError) as caught:
        SourceOptions.parse({"url": "http://u:s3cret@h/v1/streams/x"})
    assert "s3cret" not in str(caught.value)


def test_a_file_is_read_when_it_is_needed_whatever_its_option_is_written_like(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("one")
    for name in ("tokenFile", "token_file", "TOKENFILE"):
        options = SourceOptions.parse({"url": URL, name: str(file)})
        assert options.token_file == str(file)
    file.write_text("two")
    assert options.credentials().headers() == {"Authorization": "Bearer two"}


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("maxOffsetsPerTrigger", "did you mean max_rows_per_batch?"),
        ("startingOffsets", "did you mean start?"),
        ("failOnDataLoss", "did you mean on_trimmed?"),
        ("timout_s", "did you mean timeout_s?"),
        ("colour", "options are url"),
    ],
)
def test_an_unknown_option_is_told_what_it_may_mean(name: str, meant: str) -> None:
    with pytest.raises(ConfigError) as caught:
        SourceOptions.parse({"url": "http://h:1/v1/streams/s", name: "1"})
    assert f"there is no option {name}" in str(caught.value)
    assert meant in str(caught.value)


@pytest.mark.parametrize("value", ["1_0", "nan", "inf", "-1", "٣", "1e400", "", "0x10"])
def test_what_is_no_number_is_none(value: str) -> None:
    for name in ("timeout_s", "max_rows_per_batch"):
        with pytest.raises(ConfigError, match=f"option {name} = .* cannot be"):
            SourceOptions.parse({"url": "http://h:1/v1/streams/s", name: value})


def test_a_batch_does_not_begin_at_the_latest() -> None:
    """It ends there; and a stream does."""
    latest = LapwingDataSource({"url": URL, "start": "latest"})
    with pytest.raises(SealedError) as caught:
        latest.reader(StructType())
    error = unsealed(caught.value, where=URL)
    assert isinstance(error, ConfigError)
    assert "option start = 'latest' cannot be" in str(error)
    assert "leave start out, or give offsets" in str(error)
    latest.streamReader(StructType())
    for start in ("earliest", '{"0": 12}'):
        LapwingDataSource({"url": URL, "start": start}).reader(StructType())


def test_a_batch_has_no_named_reader() -> None:
    """Nobody says to the source that a batch is done: it was told to the broker as each of its tasks began."""
    named = LapwingDataSource({"url": URL, "reader": "spark"})
    with pytest.raises(SealedError) as caught:
        named.reader(StructType())
    assert "option reader = 'spark' cannot be" in str(unsealed(caught.value, where=URL))
    named.streamReader(StructType())
