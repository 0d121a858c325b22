"""What the dispatcher hands to Rust of a hook's answer."""

from __future__ import annotations

from typing import Any

import pytest

from lapwing.hooks import Hooks, Message, Refuse
from lapwing.hooks.calls import ClientInfo
from lapwing.hooks.dispatch import Dispatcher

CLIENT = ClientInfo("c", None, "127.0.0.1:1", 5)


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (None, None),
        ("no", "no"),
        ("a\ud800b\udfff\0c\U0001f426", "a\ufffdb\ufffd\ufffdc\U0001f426"),
        (ValueError("no such \udc80"), "no such \ufffd"),
    ],
)
def test_words_of_a_refusal_can_be_sent(said: Any, told: str | None) -> None:
    """Is what no text of MQTT has replaced, and the refusal kept?"""

    class Refusing(Hooks):
        def on_publish(self, message: Message) -> Refuse:
            return Refuse(0x99, said)

    assert Dispatcher(Refusing()).answer([("on_publish", (CLIENT, ("t", b"", 1, False)))]) == [("refuse", 0x99, told)]
