"""How lanes connect to the broker."""

from __future__ import annotations

import os
import socket

from lapwing.client import ConnectOptions
from lapwing.config.bridge_sides import BridgeMqtt
from lapwing.credentials import PASSWORD_VARIABLE, read_secret
from lapwing.errors import ConfigError

_BACK_OFF_S = (0.1, 2.0)


def connect_options(mqtt: BridgeMqtt, lane: str) -> ConnectOptions:
    """What a lane's connection is made with.

    Raises:
        ConfigError: the password's file cannot be read, or there is a user and no password.
    """
    options = ConnectOptions(
        ca=mqtt.ca, certificate=mqtt.certificate, key=mqtt.key, back_off_s=_BACK_OFF_S, username=mqtt.username
    )
    if mqtt.client_id is not None:
        options["client_id"] = f"{mqtt.client_id}-{mqtt.instance or socket.gethostname()}-{lane}"
        options["session_expiry_s"] = mqtt.session_expiry
    if mqtt.username is not None:
        options["password"] = _password(mqtt)
    return options


def _password(mqtt: BridgeMqtt) -> str | None:
    if mqtt.password_file is not None:
        return read_secret(mqtt.password_file, "password")
    password = os.environ.get(PASSWORD_VARIABLE)
    if password is None and mqtt.certificate is None:
        remedy = f"give bridge.mqtt.password_file, or set {PASSWORD_VARIABLE}"
        raise ConfigError("a user name without a password", where="bridge.mqtt.username", remedy=remedy)
    return password
