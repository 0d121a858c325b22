"""Lapwing: a latency-sensitive MQTT broker with its data pipeline."""
