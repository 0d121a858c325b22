"""Does Spark read what the sensors of `examples/sensors_sn.py` say over MQTT-SN?"""

from __future__ import annotations

import runpy
from pathlib import Path

from pyspark.sql import SparkSession

EXAMPLE = Path(__file__).parent.parent.parent / "examples" / "sensors_sn.py"


def test_means_of_each_sensor(spark: SparkSession) -> None:
    example = runpy.run_path(str(EXAMPLE))
    with example["start"]() as broker:
        for sensor in ("cellar", "roof"):
            example["sense"](example["url_of"](broker, "sn"), sensor, 5)
        found = example["means"](spark, f"{broker.http_url}/v1/streams/readings").collect()
    assert sorted(map(tuple, found)) == [("cellar", 5, 22.2), ("roof", 5, 22.2)]
