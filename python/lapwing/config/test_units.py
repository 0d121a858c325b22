"""Sizes and durations: what is read, what is refused, and that what is shown is read back."""

from datetime import timedelta

import pytest

from lapwing.config.units import (
    parse_duration_ms,
    parse_duration_s,
    parse_size,
    show_duration,
    show_size,
)


@pytest.mark.parametrize(
    ("text", "size"),
    [
        (4096, 4096), ("4096", 4096), ("0", 0), ("10B", 10), ("64MiB", 64 << 20), ("64 MiB", 64 << 20),
        ("1.5KiB", 1536), ("2kB", 2000), ("2KB", 2000), ("3GB", 3 * 10**9), ("1TiB", 1 << 40),
        ("9007199254740993", 9007199254740993),
    ],
)  # fmt: skip
def test_sizes_that_are_read(text: object, size: int) -> None:
    """Is each spelling worth what it says, exactly?"""
    assert parse_size(text) == size


@pytest.mark.parametrize(
    "text",
    ["", "MiB", "64M", "64mib", "-1", -1, 1.5, True, None, "1e3", "\u0661B", 2**63, "9" * 400, f"{'9' * 400}.5KiB"],
)
def test_sizes_that_are_refused(text: object) -> None:
    """Is what could mean two things, or nothing, an error?"""
    with pytest.raises(ValueError, match="must be"):
        parse_size(text)


@pytest.mark.parametrize(
    ("text", "duration_ms"),
    [
        ("500ms", 500), ("10s", 10_000), ("90m", 5_400_000), ("24h", 86_400_000), ("7d", 604_800_000),
        ("1h30m", 5_400_000), ("1.5s", 1_500), ("2 s", 2_000), (0, 0), ("0", 0), ("0s", 0),
        (timedelta(minutes=1), 60_000),
    ],
)  # fmt: skip
def test_durations_that_are_read(text: object, duration_ms: int) -> None:
    """Is each spelling worth what it says, exactly?"""
    assert parse_duration_ms(text) == duration_ms


@pytest.mark.parametrize(
    "text", ["", "10", 10, "s", "10 seconds", "-1s", False, None, "\u0661s", "99999999999999d", f"{'9' * 400}s"]
)
def test_durations_that_are_refused(text: object) -> None:
    """Is a duration without its unit an error?"""
    with pytest.raises(ValueError, match="must be"):
        parse_duration_ms(text)


def test_seconds_are_whole() -> None:
    """MQTT counts these in seconds: is a fraction refused rather than rounded?"""
    assert parse_duration_s("2m") == 120
    with pytest.raises(ValueError, match="whole seconds"):
        parse_duration_s("1500ms")


@pytest.mark.parametrize("size", [0, 1, 1023, 1024, 1536, 64 << 20, 3 * (1 << 30), 10**12])
def test_shown_sizes_are_read_back(size: int) -> None:
    """Can ``config show`` be given to ``--config``?"""
    assert parse_size(show_size(size)) == size


@pytest.mark.parametrize("duration_ms", [0, 1, 1_000, 1_500, 60_000, 3_600_000, 86_400_000, 172_800_000])
def test_shown_durations_are_read_back(duration_ms: int) -> None:
    """Can ``config show`` be given to ``--config``?"""
    assert parse_duration_ms(show_duration(duration_ms)) == duration_ms
