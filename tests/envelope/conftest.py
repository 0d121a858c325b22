"""The raw client of the broker's own tests, for what paho-mqtt does not show."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent.parent / "broker")]
