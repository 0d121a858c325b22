"""Which hooks are called, how they are found, and what is said when they are not."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import lapwing
from lapwing.config import Config, node_json
from lapwing.errors import ConfigError
from lapwing.hooks import Hooks, Message
from lapwing.hooks.dispatch import Dispatcher
from lapwing.hooks.interests import NAMES
from lapwing.hooks.loading import load_hooks

NODE_CONFIG = Path(__file__).parent.parent.parent / "crates" / "node" / "src" / "config" / "hooks.rs"


class OnlyPublish(Hooks):
    def on_publish(self, message: Message) -> None:
        return None


def test_only_what_is_overridden_is_declared() -> None:
    assert Dispatcher(Hooks()).interests == []
    assert Dispatcher(OnlyPublish()).interests == ["on_publish"]
    assert len(NAMES) == 9


def make(**methods: Any) -> Hooks:
    kind: type[Hooks] = type("Odd", (Hooks,), methods)
    return kind()


async def later(self: Hooks, message: Message) -> None:
    del self, message


@pytest.mark.parametrize(
    ("hooks", "said"),
    [
        (object(), "must be an instance of lapwing.Hooks"),
        (make(on_publsih=print), "on_publsih is no hook .*did you mean on_publish"),
        (make(on_publish=later), "on_publish must be a plain function .*not async def"),
        (make(on_publish=7), "on_publish must be a plain function"),
    ],
)
def test_what_cannot_be_called_is_refused_at_the_start(hooks: Any, said: str) -> None:
    with pytest.raises(ConfigError, match=said), lapwing.Broker(hooks=hooks):
        pass


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


def test_hooks_are_loaded_by_name(module: Path) -> None:
    (module / "gatekeeper.py").write_text(
        "from lapwing.hooks import Hooks, Refuse\n"
        "class Gatekeeper(Hooks):\n"
        "    def on_connect(self, connect):\n"
        "        return Refuse(0x8A, 'closed today')\n"
    )
    with (
        lapwing.Broker(hook_settings={"use": "gatekeeper:Gatekeeper"}) as broker,
        pytest.raises(lapwing.LapwingError, match="0x8A"),
    ):
        lapwing.Client(broker.url).connect()


@pytest.mark.parametrize(
    ("source", "use", "said"),
    [
        ("", "nowhere_at_all:Hooks", "there is no module nowhere_at_all"),
        ("", "m1.part:Hooks", "cannot be imported|there is no module"),
        ("import does_not_exist", "m2:Hooks", "cannot be imported: ModuleNotFoundError.*does_not_exist"),
        ("1 / 0", "m3:Hooks", "cannot be imported: ZeroDivisionError"),
        ("import sys\nsys.exit()", "m7:Hooks", "cannot be imported: SystemExit"),
        ("", "m4:Missing", "m4 has no class Missing"),
        ("class Plain: pass", "m5:Plain", "Plain is no lapwing.Hooks"),
        (
            "import lapwing\nclass H(lapwing.Hooks):\n def __init__(self): 1 / 0",
            "m6:H",
            "cannot be made: ZeroDivisionError",
        ),
    ],
)
def test_an_error_says_what_and_where(module: Path, source: str, use: str, said: str) -> None:
    if not use.startswith("nowhere"):
        (module / f"{use.partition(':')[0].partition('.')[0]}.py").write_text(source)
    with pytest.raises(ConfigError, match=said) as caught:
        load_hooks(use)
    assert use in str(caught.value)


@pytest.mark.parametrize("use", ["gatekeeper", "a:b:c", "a/b:C", ":C", "a:", "a b:C"])
def test_use_must_name_a_module_and_a_class(use: str) -> None:
    with pytest.raises(ConfigError, match=r"package\.module:ClassName"):
        lapwing.Broker(hook_settings={"use": use})


def test_hooks_are_given_once() -> None:
    with pytest.raises(ConfigError, match="given twice"):
        lapwing.Broker(hooks=OnlyPublish(), hook_settings={"use": "a:B"})


def test_defaults_agree_with_the_node() -> None:
    source = NODE_CONFIG.read_text()
    body = re.search(r"HooksConfig \{ (timeout_ms.*?) \}", source)
    assert body
    fields = dict(re.findall(r"(\w+): ([\w:<_ ]+?)(?:,|$)", body[1]))
    ours = json.loads(node_json(Config()))["hooks"]
    assert fields.pop("on_failure") == "OnFailure::Refuse"
    assert ours.pop("on_failure") == "refuse"
    assert ours == {name: eval(number) for name, number in fields.items()}
