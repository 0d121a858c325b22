"""Raw clients of the broker's and the groups' own tests."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent.parent / folder) for folder in ("broker", "groups")]
