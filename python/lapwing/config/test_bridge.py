"""Rules that would take each other's messages, settings that nobody would obey: are they refused, in helpful words?"""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from lapwing.bridge.kafka_settings import consumer_settings, producer_settings
from lapwing.config.bridge import BridgeSection
from lapwing.config.bridge_sides import BridgeKafka, BridgeMqtt


def _to_mqtt(name: str, **more: str) -> dict[str, str]:
    return {"name": name, "topic": "commands", "to": f"{name}/{{key}}", **more}


def test_two_rules_of_one_kafka_topic_need_a_group_each() -> None:
    """One of them would get what the other does not, or nothing."""
    why = 'two rules read the topic "commands" as the group "lapwing-bridge", which shares it: give each a group'
    with pytest.raises(ValidationError, match=why):
        BridgeSection.model_validate({"to_mqtt": [_to_mqtt("a"), _to_mqtt("b")]})
    with pytest.raises(ValidationError, match='as the group "x"'):
        BridgeSection.model_validate({"to_mqtt": [_to_mqtt("a", group="x"), _to_mqtt("b", group="x")]})


def test_rules_share_a_group_or_a_topic_but_not_both() -> None:
    rules = [_to_mqtt("a"), _to_mqtt("b", group="b"), _to_mqtt("c", topic="others")]
    section = BridgeSection.model_validate({"to_mqtt": rules})
    assert [rule.group for rule in section.to_mqtt] == ["lapwing-bridge", "b", "lapwing-bridge"]


def test_an_option_that_the_bridge_would_not_obey_is_refused() -> None:
    """What the bridge itself sets for a producer or a consumer: a value of the user's would be lost without a word."""
    kafka = BridgeKafka()
    ours = producer_settings(kafka, {}) | consumer_settings({}, "g")
    obeyed = {"topic.metadata.propagation.max.ms"}
    for name in sorted(set(ours) - obeyed):
        with pytest.raises(ValidationError, match=f"{name} is the bridge's own"):
            BridgeKafka.model_validate({"options": {name: 7}})
    assert producer_settings(BridgeKafka.model_validate({"options": dict.fromkeys(obeyed, 7)}), {}).items() >= {
        (name, 7) for name in obeyed
    }


@pytest.mark.parametrize("key", ["ca", "certificate", "key"])
def test_files_for_tls_go_with_a_url_that_has_it(key: str) -> None:
    for url in ("tcp://h", "ws://h"):
        with pytest.raises(ValidationError, match="are for TLS: give url as tls://HOST:PORT"):
            BridgeMqtt.model_validate({"url": url, key: "x.pem"})
        BridgeMqtt.model_validate({"url": url, key: "off"})
    BridgeMqtt.model_validate({"url": "tls://h", key: "x.pem"})
