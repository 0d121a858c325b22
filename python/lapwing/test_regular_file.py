"""Is a file read, a pipe where it may be one, and does nobody wait for what nobody writes?"""

from __future__ import annotations

import os
import socket
import threading
from contextlib import suppress
from pathlib import Path

import pytest

from lapwing.regular_file import file_only, open_file, read_once


@pytest.fixture
def pipe(tmp_path: Path) -> Path:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    return path


def test_a_file_is_read_and_as_much_of_it_as_was_asked_for(tmp_path: Path) -> None:
    file, link = tmp_path / "file", tmp_path / "link"
    file.write_bytes(b"x" * 100_000)
    link.symlink_to("file")
    for path in (file, link):
        assert (len(read_once(path, 1 << 20)), read_once(path, 3)) == (100_000, b"xxx")
        with open_file(path) as opened:
            assert len(opened.read()) == 100_000
    assert read_once(Path("/dev/zero"), 5) == b"\0" * 5
    for read in (lambda path: read_once(path, 1), open_file):
        with pytest.raises(FileNotFoundError):
            read(tmp_path / "none")
        with pytest.raises(IsADirectoryError):
            read(tmp_path)


def test_what_is_no_file_is_named(tmp_path: Path, pipe: Path) -> None:
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(str(tmp_path / "s"))
        with pytest.raises(OSError, match="No such device"):
            open_file(tmp_path / "s")
    (tmp_path / "link").symlink_to("pipe")
    for path, kind in ((pipe, "a pipe"), (tmp_path / "link", "a pipe"), (Path("/dev/null"), "a device")):
        with pytest.raises(OSError, match=f"it is {kind}, and no file"):
            open_file(path)


def test_nobody_writes_into_what_is_no_file_and_a_file_is_made(tmp_path: Path, pipe: Path) -> None:
    for text in ("one", "two"):
        with open(tmp_path / "new", "a", opener=file_only) as file:
            file.write(text)
    assert (tmp_path / "new").read_text() == "onetwo"
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    for path, kind in ((pipe, "a pipe"), (Path("/dev/null"), "a device")):
        with pytest.raises(OSError, match=f"it is {kind}, and no file"):
            file_only(path, os.O_WRONLY)
    os.close(reader)
    with pytest.raises(OSError, match="No such device"):
        file_only(pipe, os.O_WRONLY)


def test_a_pipe_into_which_nobody_writes_is_not_waited_for(pipe: Path) -> None:
    with pytest.raises(OSError, match=r"for 0\.01 s nobody has written into it"):
        read_once(pipe, 10, wait_s=0.01)


def test_a_pipe_is_read_to_its_end(pipe: Path) -> None:
    """One whose writer opens it later, as a shell's does, and one of which a part is enough."""
    for asked, expected in ((1 << 20, 200_000), (10, 10)):
        writer = threading.Thread(target=_write, args=(pipe, b"x" * 200_000))
        writer.start()
        assert len(read_once(pipe, asked)) == expected
        writer.join()
    read, write = os.pipe()
    os.write(write, b"[broker]\n")
    os.close(write)
    assert read_once(Path(f"/dev/fd/{read}"), 100) == b"[broker]\n"
    os.close(read)


def _write(pipe: Path, content: bytes) -> None:
    with suppress(BrokenPipeError):  # who reads may have enough
        pipe.write_bytes(content)
