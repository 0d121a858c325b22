"""What hooks and strategies import is judged as they are themselves: before it is run, or once it is known."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from commands import call, one_error

import lapwing
from lapwing.config import Config
from lapwing.errors import ConfigError

HOOKS = """\
import lapwing
{imports}

class Judge(lapwing.Hooks):
    def on_connect(self, client):
        return lapwing.Allow()
"""
MARK = "from pathlib import Path\nPath(__file__).with_name('was_run').touch()\n"
STATIC = "import helper_of_judge"
DYNAMIC = "__import__('_'.join(['helper', 'of', 'judge']))"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The working directory; modules of the test are forgotten behind it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    yield tmp_path.resolve()
    for name in ("judge_of_ours", "helper_of_judge"):
        sys.modules.pop(name, None)


def write(folder: Path, imports: str, mode: int) -> Path:
    (folder / "judge_of_ours.py").write_text(HOOKS.format(imports=imports))
    helper = folder / "helper_of_judge.py"
    helper.write_text(MARK)
    helper.chmod(mode)
    return helper


def broker(files: str = "strict") -> lapwing.Broker:
    settings = {"listen": ["tcp://127.0.0.1:0"], "http": None, "durability": "memory", "pin": False, "files": files}
    return lapwing.Broker.from_config(
        Config.model_validate({"broker": settings, "hooks": {"use": "judge_of_ours:Judge"}})
    )


@pytest.mark.parametrize(("imports", "is_run"), [(STATIC, False), (DYNAMIC, True)])
def test_a_helper_that_everybody_may_write_ends_the_start(folder: Path, imports: str, is_run: bool) -> None:
    """One that can be seen in the text before anything of it is run."""
    helper = write(folder, imports, 0o666)
    with pytest.raises(ConfigError, match=r"hooks\.use = .*helper_of_judge\.py") as refused:
        broker().start()
    assert f"{helper} decides what this broker does, and every user" in str(refused.value)
    assert (folder / "was_run").exists() is is_run


def test_a_folder_in_front_that_everybody_may_write_ends_the_start(
    folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """As of `PYTHONPATH`: a helper there would be imported instead. Before anything is run."""
    write(folder, STATIC, 0o600)
    front = tmp_path_factory.mktemp("front").resolve()
    monkeypatch.syspath_prepend(front)
    front.chmod(0o1702)
    with pytest.raises(ConfigError, match=r"decides which modules this broker imports.*chmod o-w ") as refused:
        broker().start()
    assert str(front) in str(refused.value)
    assert not (folder / "was_run").exists()
    front.chmod(0o700)
    with broker():
        assert (folder / "was_run").exists()


@pytest.mark.parametrize("imports", [STATIC, DYNAMIC])
def test_at_a_reload_too(folder: Path, imports: str) -> None:
    helper = write(folder, imports, 0o600)
    with broker() as running:
        assert running.reload() == 0
        helper.chmod(0o622)
        with pytest.raises(ConfigError, match=r"helper_of_judge\.py decides"):
            running.reload()


def test_a_notice_where_that_is_allowed(folder: Path) -> None:
    """Said once, though it is looked at before and behind the import."""
    write(folder, STATIC, 0o666)
    with broker("warn") as running:
        assert len([line for line in running.notices() if "helper_of_judge.py decides" in line]) == 1


def test_config_check_says_it_and_runs_nothing(folder: Path) -> None:
    """Whoever checks may be root."""
    write(folder, STATIC, 0o666)
    file = folder / "lapwing.toml"
    file.write_text('[broker]\nlisten = "tcp://127.0.0.1:0"\nhttp = "off"\n[hooks]\nuse = "judge_of_ours:Judge"\n')
    assert "helper_of_judge.py decides" in one_error(call("config", "check", str(file), cwd=folder))
    assert not (folder / "was_run").exists()
    write(folder, DYNAMIC, 0o666)
    assert "helper_of_judge.py decides" in one_error(call("config", "check", str(file), cwd=folder))
    write(folder, DYNAMIC, 0o600)
    assert call("config", "check", str(file), cwd=folder).returncode == 0
