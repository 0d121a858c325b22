"""Is a data folder, a stream or an audit trail refused by the check where the start refuses it, and by nobody else?"""

from __future__ import annotations

import fcntl
import os
import shutil
from pathlib import Path

import pytest

from lapwing import Broker
from lapwing.errors import LapwingError
from lapwing.rehearsal.folders import folder_faults
from lapwing.rehearsal.test_rehearsal import config, told


def started(tmp_path: Path, text: str, *, listen: str = '"tcp://127.0.0.1:0"', code: int = 2) -> str:
    """What a start says, and does it end with the code of the check; empty: it starts."""
    broker = Broker.from_config(config(tmp_path, f"shards = 1\nlog_init_zero = false\n{text}", listen=listen))
    try:
        with broker:
            return ""
    except LapwingError as error:
        refused = error
    assert refused.exit_code == code, refused
    return str(refused)


def test_partitions_are_fixed(tmp_path: Path) -> None:
    text = '[streams.s]\nfilter = "s/#"\nsegment_bytes = "64KiB"\npartitions = '
    assert started(tmp_path, f"{text}2") == ""
    assert told(folder_faults(config(tmp_path, f"{text}2"))) == []
    (fault,) = told(folder_faults(config(tmp_path, f"{text}3")))
    assert "streams.s.partitions = 3, and the stream was made with 2" in fault
    assert "set partitions = 2" in started(tmp_path, f"{text}3")
    shutil.rmtree(tmp_path / "data" / "streams" / "s")
    assert told(folder_faults(config(tmp_path, f"{text}3"))) == []
    assert started(tmp_path, f"{text}3") == ""


@pytest.mark.parametrize("home", ["log", "streams/s"])
def test_segments_that_are_all_gone(tmp_path: Path, home: str) -> None:
    """Where nobody begins with an empty log without a word, and the check says so too."""
    text = '[streams.s]\nfilter = "s/#"\nsegment_bytes = "64KiB"\n'
    assert started(tmp_path, text) == ""
    for path in (tmp_path / "data" / home).glob("*.log"):
        path.unlink()
    (fault,) = told(folder_faults(config(tmp_path, text)))
    refused = started(tmp_path, text)
    for said in (fault, refused):
        assert f"data/{home} has no segment any more" in said
        assert "restore the data folder" in said
    if home == "streams/s":
        assert told(folder_faults(config(tmp_path))) == [], "a stream that nobody asks for"
    else:
        assert told(folder_faults(config(tmp_path, f'durability = "memory"\n{text}'))) == [], "no data groups"


def test_a_file_in_the_place_of_the_folder_of_streams(tmp_path: Path) -> None:
    """Whether or not there are any."""
    assert started(tmp_path, "") == ""
    (tmp_path / "data" / "streams").rmdir()
    (tmp_path / "data" / "streams").touch()
    (fault,) = told(folder_faults(config(tmp_path)))
    for said in (fault, started(tmp_path, "")):
        assert "data/streams" in said
        assert "no folder: it is a file" in said


def test_a_journal_that_is_gone_with_its_folder(tmp_path: Path) -> None:
    """The broker's clock says that there was one."""
    assert started(tmp_path, "") == ""
    shutil.rmtree(tmp_path / "data" / "log")
    (fault,) = told(folder_faults(config(tmp_path)))
    for said in (fault, started(tmp_path, "")):
        assert "data/log has no segment any more, and clock is" in said
    (tmp_path / "data" / "clock").unlink()
    assert told(folder_faults(config(tmp_path))) == []
    assert started(tmp_path, "") == ""


@pytest.mark.parametrize("place", ["lock", "format", "clock", "log/00000000000000000001.log", "log/meta"])
def test_a_pipe_in_the_place_of_a_file(tmp_path: Path, place: str) -> None:
    assert started(tmp_path, "") == ""
    path = tmp_path / "data" / place
    path.unlink(missing_ok=True)
    os.mkfifo(path)
    (fault,) = told(folder_faults(config(tmp_path)))
    for said in (fault, started(tmp_path, "")):
        assert "it is a pipe" in said
        assert place.partition("/")[2] in said


@pytest.mark.parametrize("said", ["lapwing-log 3\n", "rubbish", None])
def test_a_format_that_is_not_known(tmp_path: Path, said: str | None) -> None:
    (tmp_path / "data" / "log").mkdir(parents=True)
    if said is not None:
        (tmp_path / "data" / "format").write_text(said)
    (fault,) = told(folder_faults(config(tmp_path)))
    assert "data/format" in fault
    assert "data/format" in started(tmp_path, "")


def _folder(path: Path) -> None:
    path.mkdir()


def _link(path: Path) -> None:
    path.symlink_to(path.with_name("elsewhere"))


def _pipe(path: Path) -> None:
    os.mkfifo(path)


def _text(path: Path) -> None:
    path.write_text("no json\n")


def _changed(path: Path) -> None:
    path.write_text('{"seq":1,"event":"started","prev":"0","hash":"1"}\n')


@pytest.mark.parametrize(
    ("lay", "said"),
    [
        (_folder, "s a directory"),
        (_link, "symbolic link"),
        (_pipe, "it is no file"),
        (_text, "its last line is no JSON"),
        (_changed, "has another hash than it says"),
    ],
)
def test_a_trail_that_cannot_be_gone_on_with(tmp_path: Path, lay: object, said: str) -> None:
    text = "[audit]\nfile = 'audit.jsonl'\n"
    lay(tmp_path / "audit.jsonl")  # type: ignore[operator]
    (fault,) = told(folder_faults(config(tmp_path, text)))
    assert said in fault
    assert "audit.jsonl" in started(tmp_path, f'durability = "memory"\n{text}')


def test_a_trail_that_is_gone_on_with(tmp_path: Path) -> None:
    """Is one that a crash has cut, or that has no hashes, in order, and one that another writes not?"""
    file, text = tmp_path / "audit.jsonl", "[audit]\nfile = 'audit.jsonl'\n"
    assert started(tmp_path, f'durability = "memory"\n{text}') == ""
    assert told(folder_faults(config(tmp_path, text))) == []
    whole = file.read_text()
    file.write_text(f'{whole}{{"seq":3,"at')
    assert told(folder_faults(config(tmp_path, text))) == []
    assert file.read_text() != whole, "nothing is cut by the check"
    with file.open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert "another broker writes it" in told(folder_faults(config(tmp_path, text)))[0]
    file.write_text('{"seq":1}\n')
    assert told(folder_faults(config(tmp_path, f"{text}chain = false\n"))) == []
    assert told(folder_faults(config(tmp_path, text))) == [], "the chain begins there"


def test_what_stays_wrong_is_told_from_what_passes(tmp_path: Path) -> None:
    """Is a folder that cannot be one a wrong setting, and one that another broker has yet not?"""
    (tmp_path / "data").write_text("")
    assert started(tmp_path, "") != ""
    (tmp_path / "data").unlink()
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "letter.txt").write_text("")
    assert "letter.txt" in started(tmp_path, "")
    (tmp_path / "data" / "letter.txt").unlink()
    assert started(tmp_path, "", listen='"unix:///no/such/folder/s"') != ""
    (tmp_path / "s").write_text("")
    assert started(tmp_path, "", listen=f'"unix://{tmp_path}/s"') != ""
    with Broker(data=tmp_path / "data", durability="disk", shards=1):
        assert started(tmp_path, "", code=1) != ""
