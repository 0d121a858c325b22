"""The raw-bytes client of the broker's own tests is what hostile clients are made of here."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "broker"))
