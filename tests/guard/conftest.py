"""Commands as processes of their own, and the raw-bytes client of the broker's own tests."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parent.parent))
sys.path.insert(0, str(Path(__file__).parent.parent / "broker"))
