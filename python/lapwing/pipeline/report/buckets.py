"""Buckets of the latency histograms as microseconds.

The job's own formula is a Spark expression (``transforms.histogram``); this is the same in numpy, and a
test holds the two together.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

BUCKET_WIDTH = 1.02


def bucket_us(bucket: NDArray[np.float64]) -> NDArray[np.float64]:
    """The middle of each bucket, in microseconds; NaN stays NaN."""
    middle: NDArray[np.float64] = np.sign(bucket) * BUCKET_WIDTH ** (np.abs(bucket) - 0.5)
    return middle
