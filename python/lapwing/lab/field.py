"""A random landscape: Gaussian values over the plane whose likeness fades with distance.

Shadowing (hills, houses) and the load of a channel are such landscapes: two phones in one street see the
same wall. The correlation falls as exp(-d / reach), which is what Gudmundson measured for shadowing
(Electronics Letters 27, 1991).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

NODES = 256
"""Nodes per side of the grid, a power of two for the transform."""


class Field:
    """Several independent landscapes of mean 0 and deviation 1 on one periodic grid.

    Args:
        layers: How many landscapes.
        reach_m: Distance at which the correlation has fallen to 1/e.
        random: Source of the randomness; drawn from once, here.
    """

    def __init__(self, layers: int, reach_m: float, random: np.random.Generator) -> None:
        # Half a reach between nodes keeps the correlation's shape; the landscape repeats after 128 reaches.
        self._step_m = reach_m / 2
        steps = np.minimum(np.arange(NODES), NODES - np.arange(NODES))
        distance = np.hypot(steps[:, None], steps[None, :]) * self._step_m
        spectrum = np.maximum(np.fft.fft2(np.exp(-distance / reach_m)).real, 0.0)
        noise = np.fft.fft2(random.standard_normal((layers, NODES, NODES)))
        smooth = np.fft.ifft2(noise * np.sqrt(spectrum)).real
        self._nodes = (smooth / smooth.std(axis=(1, 2), keepdims=True)).astype(np.float32)

    def at(self, layer: NDArray[np.int64], x_m: NDArray[np.float64], y_m: NDArray[np.float64]) -> NDArray[np.float64]:
        """The values at points (bilinear between nodes); the arguments broadcast against each other."""
        column, right = np.divmod(x_m / self._step_m, 1.0)
        row, down = np.divmod(y_m / self._step_m, 1.0)
        left, top = column.astype(np.int64) % NODES, row.astype(np.int64) % NODES
        next_left, next_top = (left + 1) % NODES, (top + 1) % NODES
        upper = self._nodes[layer, top, left] * (1 - right) + self._nodes[layer, top, next_left] * right
        lower = self._nodes[layer, next_top, left] * (1 - right) + self._nodes[layer, next_top, next_left] * right
        between: NDArray[np.float64] = upper * (1 - down) + lower * down
        return between
