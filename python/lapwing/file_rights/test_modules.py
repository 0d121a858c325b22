"""Which files are run for a setting that names a class: those that it names, and what they import."""

from __future__ import annotations

import sys
from importlib.machinery import EXTENSION_SUFFIXES
from importlib.util import cache_from_source
from pathlib import Path

import pytest

from lapwing.errors import ConfigError
from lapwing.file_rights.modules import module_files
from lapwing.loading import load_object

RAISES = "raise AssertionError('it was run')\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory, without links on the way to it."""
    monkeypatch.chdir(tmp_path)
    return tmp_path.resolve()


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def found(folder: Path, use: str) -> set[str]:
    """Their names in ``folder``, without what is compiled; all lie there."""
    return {str(path.relative_to(folder)) for path in module_files(use) if path.suffix != ".pyc"}


def test_modules_are_found_and_not_run(folder: Path) -> None:
    """Are the packages around a module believed too, and what is compiled; and is none of their code run?"""
    names = ["judges_of_ours/__init__.py", "judges_of_ours/inner/__init__.py", "judges_of_ours/inner/rules.py"]
    write(folder, dict.fromkeys(names, RAISES))
    sources = [folder / name for name in names]
    compiled = [Path(cache_from_source(str(source))) for source in sources]
    files = list(module_files("judges_of_ours.inner.rules:Hooks"))
    assert files == [file for pair in zip(sources, compiled, strict=True) for file in pair]
    assert "judges_of_ours" not in sys.modules
    assert list(module_files("no_such_module_here:Hooks")) == []


def test_what_they_import_is_found(folder: Path) -> None:
    """Wherever an import stands, however it is written, and what that one imports; each once, also in a ring."""
    write(
        folder,
        {
            "ours_judge.py": "import json, ours_plain as x\nfrom ours_package import inner, no_module\nimport numpy\n"
            + RAISES,
            "ours_plain.py": "def late():\n    if True:\n        import ours_late\n" + RAISES,
            "ours_late.py": "import importlib\nimportlib.import_module('ours_named')\nimport ours_judge\n",
            "ours_named.py": "this is no Python",
            "ours_package/__init__.py": RAISES,
            "ours_package/inner.py": "from .beside import thing\nfrom . import sister\nfrom ..too_far import x\n",
            "ours_package/beside.py": "from .deeper.end import *\n",
            "ours_package/sister.py": "\0",
            "ours_package/deeper/__init__.py": "",
            "ours_package/deeper/end.py": "from ..beside import thing\n",
            "ours_package/unused.py": "",
            "unused.py": "",
        },
    )
    assert found(folder, "ours_judge:J") == {
        "ours_judge.py",
        "ours_plain.py",
        "ours_late.py",
        "ours_named.py",
        "ours_package/__init__.py",
        "ours_package/inner.py",
        "ours_package/beside.py",
        "ours_package/sister.py",
        "ours_package/deeper/__init__.py",
        "ours_package/deeper/end.py",
    }
    assert not any(name.startswith("ours_") for name in sys.modules)


def test_packages_without_a_file_are_folders(folder: Path) -> None:
    """Who may write one puts a module in it. One in another is found too: it was a KeyError."""
    write(folder, {"ours_space/inner/judge.py": "import ours_space.other.thing\n", "ours_space/other/thing.py": ""})
    assert found(folder, "ours_space.inner.judge:J") == {
        "ours_space",
        "ours_space/inner",
        "ours_space/inner/judge.py",
        "ours_space/other",
        "ours_space/other/thing.py",
    }


def test_what_is_compiled_counts_without_its_source(folder: Path) -> None:
    native = f"ours_native{EXTENSION_SUFFIXES[0]}"
    write(folder, {"ours_judge.py": "import ours_native, ours_bytes\n", native: "", "ours_bytes.pyc": ""})
    assert {path.name for path in module_files("ours_judge:J")} >= {"ours_judge.py", native, "ours_bytes.pyc"}


def test_what_is_installed_is_not_looked_at_unless_it_is_named(folder: Path) -> None:
    """Nor what is Python's own, or the program's: who may write there could change who looks."""
    write(folder, {"ours_judge.py": "import ast, pytest, lapwing.hooks, xml.dom.minidom\n"})
    assert found(folder, "ours_judge:J") == {"ours_judge.py"}
    named = [path.name for path in module_files("xml.dom:J")]
    assert [name for name in named if name.endswith(".py")] == ["__init__.py", "__init__.py"]


def test_what_an_import_brought_is_known_afterwards(folder: Path) -> None:
    """By a name that is put together, and whether the import came to its end or not."""
    write(
        folder,
        {
            "ours_dynamic.py": "__import__('_'.join(['ours', 'hidden']))\nimport not_there_at_all\n",
            "ours_hidden.py": "import ours_hidden_too\n",
            "ours_hidden_too.py": "",
        },
    )
    assert found(folder, "ours_dynamic:J") == {"ours_dynamic.py"}
    try:
        with pytest.raises(ConfigError):
            load_object("ours_dynamic:J", object, where="x", what="y")
        assert found(folder, "ours_dynamic:J") == {"ours_dynamic.py", "ours_hidden.py", "ours_hidden_too.py"}
    finally:
        sys.path.remove(str(Path.cwd()))
        for name in [name for name in sys.modules if name.startswith("ours_")]:
            del sys.modules[name]
