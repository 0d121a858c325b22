"""Are credentials found where they may be, and shown nowhere?"""

from __future__ import annotations

import pickle
import traceback
from pathlib import Path

import pytest

from lapwing.credentials import Credentials, find_credentials, read_secret
from lapwing.errors import ConfigError

SECRET = "s3cr3t~token"


def test_nobody_has_no_header() -> None:
    assert find_credentials(environment={}).headers() == {}
    assert not find_credentials(environment={})


def test_a_token_comes_from_an_option_a_file_or_the_environment(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_bytes(SECRET.encode() + b"\r\nmore\n")
    bearer = {"Authorization": f"Bearer {SECRET}"}
    assert find_credentials(token=SECRET, environment={"LAPWING_TOKEN": "other"}).headers() == bearer
    assert find_credentials(token_file=file, environment={"LAPWING_TOKEN": "other"}).headers() == bearer
    assert find_credentials(environment={"LAPWING_TOKEN": SECRET}).headers() == bearer


def test_a_user_has_a_password_from_an_option_a_file_or_the_environment(tmp_path: Path) -> None:
    file = tmp_path / "password"
    file.write_text("p:ä")
    basic = {"Authorization": "Basic dTpwOsOk"}
    assert find_credentials(user="u", password="p:ä", environment={}).headers() == basic
    assert find_credentials(user="u", password_file=file, environment={"LAPWING_PASSWORD": "x"}).headers() == basic
    variables = {"LAPWING_PASSWORD": "p:ä", "LAPWING_TOKEN": "left alone: a user was named"}
    assert find_credentials(user="u", environment=variables).headers() == basic


@pytest.mark.parametrize(
    "given",
    [
        {"token": SECRET, "user": "u"},
        {"token": SECRET, "token_file": "f"},
        {"password": SECRET},
        {"user": "u"},
        {"user": "u:v", "password": SECRET},
        {"token": SECRET + "\n"},
        {"token": SECRET + " ü"},
        {"token_file": "/nowhere/at/all"},
    ],
)
def test_what_cannot_be_is_said_without_the_secret(given: dict[str, str]) -> None:
    with pytest.raises(ConfigError) as caught:
        find_credentials(**given, environment={})
    assert SECRET not in "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize("content", [b"", b"\n", b"x" * 4097, SECRET.encode() + b"\xff\n"])
def test_a_file_that_is_no_secret_is_named_and_not_shown(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "secret"
    file.write_bytes(content)
    with pytest.raises(ConfigError, match="password") as caught:
        read_secret(file, "password")
    assert str(file) in str(caught.value)
    assert SECRET not in "".join(traceback.format_exception(caught.value))


def test_no_secret_is_in_a_repr() -> None:
    for credentials in (Credentials.bearer(SECRET), Credentials.basic("u", SECRET)):
        assert SECRET not in f"{credentials!r} {credentials}"
        assert pickle.loads(pickle.dumps(credentials)).headers() == credentials.headers()
