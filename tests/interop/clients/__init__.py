"""Other people's MQTT clients behind one small interface, so that each talks to each."""

from clients.aiomqtt_client import Aiomqtt
from clients.mosquitto_client import Mosquitto
from clients.mqttjs_client import MqttJs
from clients.paho_client import Paho

ALL = (Paho(), Mosquitto(), Aiomqtt(), MqttJs())
