"""Who is a client that ``connect`` makes, and where does its password come from?"""

from __future__ import annotations

from pathlib import Path

import pytest

from lapwing.client.identity import Identity
from lapwing.errors import ConfigError
from lapwing.shell.identified import identified
from lapwing.shell.verbs import Connect

URL = "tls://broker.example"
WHO = Identity("root", "toor", ca="ca.pem", certificate="c.pem", key="c.key")


@pytest.fixture(autouse=True)
def no_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LAPWING_PASSWORD", raising=False)


def who(command: Connect, *, same_broker: bool = True, typed: str | None = None) -> tuple[str | None, str | None]:
    ask_password = None if typed is None else lambda _: typed
    made = identified(command, URL, WHO, same_broker=same_broker, ask_password=ask_password)
    return made.username, made.password


def test_a_connect_that_names_nobody_is_the_shells_own_at_its_own_broker() -> None:
    assert who(Connect("d1")) == ("root", "toor")
    assert who(Connect("d1"), same_broker=False) == (None, None)


def test_a_password_comes_from_the_line_a_file_the_environment_or_somebody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "secret"
    file.write_text("filed\n")
    assert who(Connect("d1", username="u", password="said"), typed="typed") == ("u", "said")
    assert who(Connect("d1", username="u", password_file=str(file)), typed="typed") == ("u", "filed")
    assert who(Connect("d1", username="u"), typed="typed") == ("u", "typed")
    assert who(Connect("d1", username="u")) == ("u", None)
    monkeypatch.setenv("LAPWING_PASSWORD", "env")
    assert who(Connect("d1", username="u"), typed="typed") == ("u", "env")
    assert who(Connect("d1", username="u"), same_broker=False, typed="typed") == ("u", "typed")


def test_files_are_the_lines_own_or_the_shells() -> None:
    made = identified(Connect("d1"), URL, WHO, same_broker=False, ask_password=None)
    assert (made.ca, made.certificate, made.key) == ("ca.pem", "c.pem", "c.key")
    made = identified(Connect("d1", ca="x", certificate="y"), URL, WHO, same_broker=True, ask_password=None)
    assert (made.ca, made.certificate, made.key) == ("x", "y", None), "a key belongs to its certificate"


def test_files_are_for_brokers_with_tls() -> None:
    made = identified(Connect("d1"), "tcp://h", WHO, same_broker=False, ask_password=None)
    assert (made.ca, made.certificate, made.key) == (None, None, None)
    with pytest.raises(ConfigError, match=r"--cert is for TLS, and tcp:// has none \(tcp://h\): write tls://"):
        identified(Connect("d1", certificate="y"), "tcp://h", WHO, same_broker=False, ask_password=None)


def test_a_password_needs_a_user() -> None:
    with pytest.raises(ConfigError, match="--username"):
        who(Connect("d1", password="p"))
