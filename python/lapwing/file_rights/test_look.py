"""What decides what a path leads to, and which files a configuration makes the broker believe."""

from __future__ import annotations

import sys
from importlib.util import cache_from_source
from pathlib import Path

import pytest

from lapwing.config import Config
from lapwing.file_rights.look import facts_of, trusted_by, uids_outside, ways_to
from lapwing.file_rights.of_config import believed_files, module_files


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Without links on the way to it."""
    return tmp_path.resolve()


def test_a_plain_path_goes_from_the_root(folder: Path) -> None:
    file = folder / "users.toml"
    file.touch()
    assert ways_to(file) == [*reversed(file.parents), file]


def test_a_secret_of_kubernetes(folder: Path) -> None:
    """Are both links and the folder that the second one leads to among what decides?"""
    mounted = folder / "tls"
    (mounted / "..2026_11").mkdir(parents=True)
    (mounted / "..2026_11" / "tls.key").touch()
    (mounted / "..data").symlink_to("..2026_11")
    (mounted / "tls.key").symlink_to("..data/tls.key")
    found = ways_to(mounted / "tls.key")
    names = ["tls", "tls/tls.key", "tls/..data", "tls/..2026_11", "tls/..2026_11/tls.key"]
    assert found[len(folder.parents) + 1 :] == [folder / name for name in names]


def test_links_to_folders_and_back(folder: Path) -> None:
    """Is every folder that the kernel looks into found, also between two links, and with .. behind one?"""
    for name in ("a", "b/c", "d/e"):
        (folder / name).mkdir(parents=True)
    (folder / "a" / "one").symlink_to(folder / "b" / "two")
    (folder / "b" / "two").symlink_to("../d/e")
    (folder / "d" / "file").touch()
    found = ways_to(folder / "a" / "one" / ".." / "file")
    for name in ("a", "a/one", "b", "b/two", "d", "d/e", "d/file"):
        assert folder / name in found
    assert found[-1] == folder / "d" / "file"


def test_a_ring_of_links_ends(folder: Path) -> None:
    (folder / "one").symlink_to("two")
    (folder / "two").symlink_to("one")
    assert folder / "two" in ways_to(folder / "one")


def test_nothing_is_known_of_what_is_not_there(folder: Path) -> None:
    assert facts_of(folder / "none") is None


def test_root_and_the_account_are_trusted() -> None:
    assert trusted_by(54_321).uids >= {0, 54_321}
    assert trusted_by(54_321).gids == {0}, "an account that nobody knows has no private group"


@pytest.mark.parametrize(
    ("uid_map", "outside"),
    [
        ("         0          0 4294967295\n", ()),
        ("         0       1000          1\n", (65_534,)),
        ("         0       1000          1\n         1     100000      65536\n", ()),
        ("", (65_534,)),
    ],
)
def test_owners_outside_of_a_container_are_known_by_their_uid(uid_map: str, outside: tuple[int, ...]) -> None:
    """Is nobody's uid somebody else's only where no user of the namespace has it?"""
    assert uids_outside(65_534, uid_map) == outside


def test_modules_are_found_and_not_run(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Are the packages around a module believed too, and is none of their code run before it is judged?"""
    package = folder / "judges_of_ours" / "inner"
    package.mkdir(parents=True)
    for file in (package.parent / "__init__.py", package / "__init__.py", package / "rules.py"):
        file.write_text("raise AssertionError('it was run')\n")
    monkeypatch.chdir(folder)
    sources = [package.parent / "__init__.py", package / "__init__.py", package / "rules.py"]
    compiled = [Path(cache_from_source(str(source))) for source in sources]
    found = list(module_files("judges_of_ours.inner.rules:Hooks"))
    assert found == [file for pair in zip(sources, compiled, strict=True) for file in pair]
    assert "judges_of_ours" not in sys.modules
    assert list(module_files("no_such_module_here:Hooks")) == []


def test_files_of_a_configuration(folder: Path) -> None:
    """Is every file that decides named with its key, and are those secret that are?"""
    config = Config(
        auth={"users": folder / "users.toml"},  # type: ignore[arg-type]
        listeners=[
            {  # type: ignore[list-item]
                "url": "tls://127.0.0.1:0",
                "certificate": folder / "c.pem",
                "key": folder / "k.pem",
                "client_ca": folder / "ca.pem",
                "crl": folder / "revoked.pem",
                "client_certificate": "required",
            },
            {"url": "sns://127.0.0.1:0", "psk": folder / "keys"},  # type: ignore[list-item]
        ],
        http={"certificate": folder / "both.pem", "client_ca": folder / "ca.pem", "crl": folder / "taken.pem"},  # type: ignore[arg-type]
        groups={"alarms": {"use": "lapwing.strategy.base:Strategy"}},  # type: ignore[dict-item]
    )
    believed = [file for file in believed_files(config, folder / "lapwing.toml") if file.path.suffix != ".pyc"]
    found = {file.key: (file.path.name, file.is_secret) for file in believed}
    assert found == {
        "--config": ("lapwing.toml", False),
        "auth.users": ("users.toml", True),
        "listeners.0.certificate": ("c.pem", False),
        "listeners.0.key": ("k.pem", True),
        "listeners.0.client_ca": ("ca.pem", False),
        "listeners.0.crl": ("revoked.pem", False),
        "listeners.1.psk": ("keys", True),
        "http.certificate": ("both.pem", True),
        "http.client_ca": ("ca.pem", False),
        "http.crl": ("taken.pem", False),
        'groups."alarms".use': ("base.py", False),
    }
