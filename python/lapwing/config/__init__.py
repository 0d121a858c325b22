"""Configuration: one typed model, built from file < environment < flags.

- A TOML file (``--config``), then ``LAPWING_BROKER__SHARDS=2``, then ``--set broker.shards=2``.
- Strict: an unknown key is an error that suggests the near match; nothing is ignored.
- Sizes (``"64MiB"``) and durations (``"24h"``) carry their units.
- Every problem is reported, one line each: key, value, place (file:line, a variable, a flag), remedy.
- ``limits`` mirrors the node's own limits, name for name; ``node_json`` is what the node is given.
"""

from lapwing.config.audit import AuditSection
from lapwing.config.auth import AuthSection, access_json
from lapwing.config.bridge import BridgeSection, ToKafka, ToMqtt
from lapwing.config.bridge_sides import BridgeKafka, BridgeMqtt
from lapwing.config.cluster import ClusterSection, cluster_json
from lapwing.config.dispatch import DispatchSection
from lapwing.config.envelope import EnvelopeSection
from lapwing.config.events import EventsSection
from lapwing.config.group_rules import GroupRule
from lapwing.config.groups import GroupConfig
from lapwing.config.hold import HoldConfig
from lapwing.config.hooks import HooksSection
from lapwing.config.http import HttpSection
from lapwing.config.http_check import HttpCheckSection
from lapwing.config.jwt import JwtSection
from lapwing.config.limits import Limits
from lapwing.config.listeners import ListenerConfig
from lapwing.config.load import Loaded, load
from lapwing.config.log import LogSection
from lapwing.config.model import BrokerSection, Config, node_json
from lapwing.config.rules import RuleConfig
from lapwing.config.streams import StreamConfig
from lapwing.config.sys_tree import SysSection
from lapwing.config.topic_tables import TopicConfig

__all__ = [
    "AuditSection",
    "AuthSection",
    "BridgeKafka",
    "BridgeMqtt",
    "BridgeSection",
    "BrokerSection",
    "ClusterSection",
    "Config",
    "DispatchSection",
    "EnvelopeSection",
    "EventsSection",
    "GroupConfig",
    "GroupRule",
    "HoldConfig",
    "HooksSection",
    "HttpCheckSection",
    "HttpSection",
    "JwtSection",
    "Limits",
    "ListenerConfig",
    "Loaded",
    "LogSection",
    "RuleConfig",
    "StreamConfig",
    "SysSection",
    "ToKafka",
    "ToMqtt",
    "TopicConfig",
    "access_json",
    "cluster_json",
    "load",
    "node_json",
]
