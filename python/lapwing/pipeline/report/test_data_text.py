"""Is text of others drawn as it is, whatever it holds?"""

from __future__ import annotations

import pytest
from matplotlib.figure import Figure

from lapwing.pipeline.report.data_text import plain


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("phone-1", "phone-1"),
        ("two\nlines\x1b[31m", r"…s\x1b[31m"),
        ("\u202egnp.exe", "…2egnp.exe"),
        ("0123456789abcdef", "…789abcdef"),
        (r"$\frac{$", r"\$\frac{\$"),
    ],
)
def test_plain(text: str, shown: str) -> None:
    assert plain(text, 10) == shown


@pytest.mark.parametrize("text", ["$x$", r"$\frac{$", "$", "$" * 40, r"\$\frac{$"])
def test_no_mathematics_is_set(text: str) -> None:
    """What the drawing library takes for a formula it sets differently, or cannot set at all."""
    figure = Figure()
    written = figure.text(0, 0, plain(text, 30))
    drawn, is_mathematics = written._preprocess_math(written.get_text())  # type: ignore[attr-defined]
    assert not is_mathematics
    assert drawn.removeprefix("…") in text
