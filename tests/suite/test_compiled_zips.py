"""Does Python take what was laid into a zip, and is it what it would have compiled itself?"""

from __future__ import annotations

import marshal
import py_compile
import zipimport
from pathlib import Path
from unittest import mock
from zipfile import ZipFile

import pytest
from tools.compiled_zips import add_compiled

SOURCES = {"rooms/__init__.py": "", "rooms/one.py": "def number() -> int:\n    return 1\n", "rooms/note.txt": "words"}


@pytest.fixture
def zip_file(tmp_path: Path) -> Path:
    file = tmp_path / "rooms.zip"
    with ZipFile(file, "w") as made:
        for name, text in SOURCES.items():
            made.writestr(name, text)
    return file


def code_of(zip_file: Path, module: str) -> object:
    zipimport.zipimporter(str(zip_file)).invalidate_caches()
    return zipimport.zipimporter(str(zip_file)).get_code(module)


def test_nothing_is_compiled_any_more(zip_file: Path, tmp_path: Path) -> None:
    before = code_of(zip_file, "rooms/one")
    add_compiled(zip_file, tmp_path)
    with mock.patch.object(zipimport, "_compile_source", side_effect=AssertionError):
        after = code_of(zip_file, "rooms/one")
        assert code_of(zip_file, "rooms/__init__")
    assert after == before
    with ZipFile(zip_file) as made:
        assert {name: made.read(name).decode() for name in SOURCES} == SOURCES
        assert set(made.namelist()) == {*SOURCES, "rooms/__init__.pyc", "rooms/one.pyc"}


@pytest.mark.parametrize("is_same", [True, False])
def test_what_pip_has_compiled_is_taken_if_it_is_of_the_same_source(
    zip_file: Path, tmp_path: Path, is_same: bool
) -> None:
    file = tmp_path / "rooms" / "one.py"
    file.parent.mkdir()
    file.write_text(SOURCES["rooms/one.py"] if is_same else "other = 2\n")
    py_compile.compile(str(file))
    add_compiled(zip_file, tmp_path)
    with ZipFile(zip_file) as made:
        code = marshal.loads(made.read("rooms/one.pyc")[16:])
    assert code.co_filename == (str(file) if is_same else "rooms/one.py")
    assert "number" in code.co_names


def test_a_zip_that_has_them_stays(zip_file: Path, tmp_path: Path) -> None:
    add_compiled(zip_file, tmp_path)
    before = zip_file.stat()
    add_compiled(zip_file, tmp_path)
    assert zip_file.stat() == before
