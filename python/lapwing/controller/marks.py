"""Marks: messages of the controller's own, on topics of devices that do not exist, that tell when all has come."""

from __future__ import annotations

from lapwing.client import Delivery

MARK = "lapwing-mark-"
"""So the names of such devices begin."""


def device_of(message: Delivery) -> str:
    """The level of the topic that names the device: registrations and answers have it second."""
    return message.topic.split("/")[1]
