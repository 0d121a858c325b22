"""Is a time that another time makes unreachable refused, at the bound taken, and are both named?"""

from __future__ import annotations

from pathlib import Path

import pytest

from lapwing.config.test_memory_pairs import problems, refused_and_taken

CASES = [
    # what is judged; the configuration with %s in its place; a value that is wrong, and the last that is in order; what
    # it is held against
    (
        "limits.message_expiry_default",
        '[limits]\nmessage_expiry_max = "1h"\nmessage_expiry_default = %s',
        '"2h"',
        '"1h"',
        "message_expiry_max = 1h",
    ),
    (
        "limits.session_expiry_v311",
        '[limits]\nsession_expiry_max = "1h"\nsession_expiry_v311 = %s',
        '"2h"',
        '"1h"',
        "session_expiry_max = 1h",
    ),
    (
        "limits.queue_age_max",
        '[limits]\nmessage_expiry_max = "1h"\nqueue_age_max = %s',
        '"3601s"',
        '"1h"',
        "message_expiry_max = 1h of limits",
    ),
    (
        "hold.a/#.expiry",
        '[limits]\nmessage_expiry_max = "1h"\n[topics.x]\nmessage_expiry_max = "2h"\n[hold."a/#"]\nexpiry = %s',
        '"3h"',
        '"2h"',
        "message_expiry_max = 2h of [topics]",
    ),
    (
        "topics.a.message_expiry_default",
        '[limits]\nmessage_expiry_max = "1h"\n[topics.a]\nmessage_expiry_default = %s',
        '"2h"',
        '"1h"',
        "limits.message_expiry_max = 1h",
    ),
    (
        "limits.takeover_wait",
        '[limits]\nconnect_timeout = "4s"\ntakeover_wait = %s',
        '"2001ms"',
        '"2s"',
        "half of limits.connect_timeout = 4s",
    ),
    (
        "limits.stall_after",
        '[limits]\nstuck_after = "1m"\nstall_after = %s',
        '"2m"',
        '"1m"',
        "limits.stuck_after = 1m",
    ),
    (
        "bridge.mqtt.session_expiry",
        '[[bridge.to_kafka]]\nname = "r"\nfilter = "a/#"\ntopic = "t"\n[limits]\nsession_expiry_max = "1h"\n'
        "[bridge.mqtt]\nsession_expiry = %s",
        '"2h"',
        '"1h"',
        "limits.session_expiry_max = 1h",
    ),
]


@pytest.mark.parametrize(("key", "text", "wrong", "right", "against"), CASES)
def test_a_pair_of_times(tmp_path: Path, key: str, text: str, wrong: str, right: str, against: str) -> None:
    refused_and_taken(tmp_path, key, text, wrong, right, against)


def test_a_table_of_topics_has_a_bound_of_its_own(tmp_path: Path) -> None:
    """Does its own bound go before that of all, and is a bound from a wider table no contradiction?"""
    text = '[limits]\nmessage_expiry_max = "1h"\n[topics."a/b"]\nmessage_expiry_default = "2h"\n'
    assert problems(tmp_path, f'{text}message_expiry_max = "2h"') == []
    assert problems(tmp_path, f"{text}message_expiry_max = 0") == []
    assert problems(tmp_path, f'{text}[topics."a/#"]\nmessage_expiry_max = "3h"') == []
    (told,) = problems(tmp_path, f'{text}message_expiry_max = "90m"')
    assert "message_expiry_max = 90m" in told


def test_some_messages_do_not_expire(tmp_path: Path) -> None:
    """Is what waits for long no contradiction where there are topics without a bound?"""
    text = '[limits]\nmessage_expiry_max = "1h"\nqueue_age_max = "2h"\n'
    assert problems(tmp_path, f"{text}[topics.a]\nmessage_expiry_max = 0") == []
