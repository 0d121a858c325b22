"""The controller on MQTT: where the pipeline's job meets the client library.

The pipeline knows tables and an abstract post, the client library knows MQTT; this room is the only one that knows
both, so that neither has to know the other.
"""

from __future__ import annotations

from lapwing.controller.mqtt_wires import MqttWires

__all__ = ["MqttWires"]
