"""Metrics of a part in Prometheus' text format, read as numbers."""

from __future__ import annotations

import re
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass

_SAMPLE = re.compile(r"([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? ([^ ]+)(?: \d+)?")
_LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\.)*)"')
_TIMEOUT_S = 5.0
_BYTES_MAX = 16 << 20


@dataclass(frozen=True)
class Metrics:
    """Samples by name and labels."""

    samples: Mapping[str, list[tuple[Mapping[str, str], float]]]

    def total(self, name: str, **labels: str) -> float:
        """The sum over all samples of a name with these labels; 0 where there is none."""
        wanted = labels.items()
        return sum(value for has, value in self.samples.get(name, ()) if wanted <= has.items())

    def by(self, name: str, label: str, **labels: str) -> dict[str, int]:
        """Sums that are not 0, by the value of a label."""
        sums: dict[str, int] = {}
        for has, value in self.samples.get(name, ()):
            if labels.items() <= has.items() and value:
                key = has.get(label, "")
                sums[key] = sums.get(key, 0) + round(value)
        return sums


NOTHING = Metrics({})


def parse(text: str) -> Metrics:
    """Reads the text format; lines that are no samples are passed over."""
    samples: dict[str, list[tuple[Mapping[str, str], float]]] = {}
    for line in text.splitlines():
        match = None if line.startswith("#") else _SAMPLE.fullmatch(line.strip())
        if match:
            labels = {name: _unquoted(value) for name, value in _LABEL.findall(match[2] or "")}
            samples.setdefault(match[1], []).append((labels, float(match[3])))
    return Metrics(samples)


def fetch(url: str) -> Metrics:
    """Asks for them.

    Raises:
        OSError: nobody answers, or not in time.
    """
    with urllib.request.urlopen(url, timeout=_TIMEOUT_S) as answer:  # noqa: S310 (a part's own, on the loopback)
        return parse(answer.read(_BYTES_MAX).decode(errors="replace"))


def _unquoted(value: str) -> str:
    return re.sub(r"\\(.)", lambda found: "\n" if found[1] == "n" else found[1], value)
