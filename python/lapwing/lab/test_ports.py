"""Are ports for others theirs alone: not twice, not in use, and not what the kernel gives to whoever asks for any?"""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from lapwing.errors import LapwingError
from lapwing.lab import ports
from lapwing.lab.ports import free_ports


def test_they_are_below_the_kernel_s_own_and_none_twice() -> None:
    found = free_ports(50)
    assert len(set(found)) == 50
    kernels = Path("/proc/sys/net/ipv4/ip_local_port_range")
    lowest = int(kernels.read_text().split()[0]) if kernels.exists() else 32_768
    if lowest >= 23_000:
        assert max(found) < lowest


def test_one_in_use_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    taken = free_ports(1)[0]
    monkeypatch.setattr(ports, "_candidates", lambda: range(taken, taken + 1))
    with socket.create_server(("127.0.0.1", taken)), pytest.raises(LapwingError, match="1 ports are not free"):
        free_ports(1)
    assert free_ports(1) == [taken]


def test_where_the_kernel_takes_nearly_all_any_will_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "range").write_text("1024\t65535\n")
    monkeypatch.setattr(ports, "_RANGE", tmp_path / "range")
    assert len(free_ports(3)) == 3
