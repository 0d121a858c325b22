"""Tables on the terminal, plain enough to be quoted."""

from __future__ import annotations

from collections.abc import Sequence


def print_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Prints `rows` under `columns`; numbers to the right, text to the left."""
    cells = [[_text(value) for value in row] for row in rows]
    widths = [max(len(line[i]) for line in [list(columns), *cells]) for i in range(len(columns))]
    print(f"\n{title}")
    print("  " + "  ".join(name.ljust(width) for name, width in zip(columns, widths, strict=True)).rstrip())
    for row, texts in zip(rows, cells, strict=True):
        line = [_aligned(value, text, width) for value, text, width in zip(row, texts, widths, strict=True)]
        print("  " + "  ".join(line).rstrip())


def _text(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.2f}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _aligned(value: object, text: str, width: int) -> str:
    return text.rjust(width) if isinstance(value, int | float) or value is None else text.ljust(width)


def verdict(what: str, measured: float, target: float, *, at_most: bool = False) -> None:
    """One line that says whether a figure to reach was reached."""
    reached = measured <= target if at_most else measured >= target
    sign = "<=" if at_most else ">="
    print(f"  {'reached' if reached else 'MISSED '}  {what}: {_text(measured)} ({sign} {_text(target)})")
