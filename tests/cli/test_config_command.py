"""`lapwing config`: what is in force and where it came from; what is wrong with a file."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

from commands import call, lapwing, one_error


def test_show_says_where_each_value_comes_from(tmp_path: Path) -> None:
    """Do file, environment and flag each show in the line of what they set?"""
    file = tmp_path / "lapwing.toml"
    file.write_text('[broker]\nshards = 1\ndrain = "3s"\n')
    result = call("config", "show", "-c", str(file), "--set", "broker.pin=false", LAPWING_BROKER__SHARDS="2")
    lines = {line.split(" = ")[0]: line for line in reversed(result.stdout.splitlines()) if " = " in line}
    assert lines["shards"].split(" # ") == [
        lines["shards"].split(" # ")[0],
        "environment LAPWING_BROKER__SHARDS",
    ]
    assert lines["drain"].endswith(f"# {file}:3")
    assert lines["pin"].endswith("# flag --set broker.pin=false")
    assert tomllib.loads(result.stdout)["broker"]["shards"] == 2


def test_show_json(tmp_path: Path) -> None:
    result = call("config", "show", "--json", "--set", "streams.r.filter=a/#", cwd=tmp_path)
    shown = json.loads(result.stdout)
    assert shown["streams.r.filter"] == {"value": "a/#", "from": "flag --set streams.r.filter=a/#"}
    assert shown["limits.packet_bytes_max"] == {"value": "1MiB", "from": "default"}


def test_file_from_the_environment(tmp_path: Path) -> None:
    file = tmp_path / "lapwing.toml"
    file.write_text("[broker]\nshards = 3\n")
    assert "shards = 3" in lapwing("config", "show", LAPWING_CONFIG=str(file)).stdout


FREE_PORTS = '[broker]\nlisten = "tcp://127.0.0.1:0"\nhttp = "off"\n'
"""Another program of this machine may have the usual ones, which is an error."""


def test_check(tmp_path: Path) -> None:
    """Is a good file in order, and is each problem of a bad one a line?"""
    file = tmp_path / "lapwing.toml"
    file.write_text(f"{FREE_PORTS}shards = 3\n")
    assert call("config", "check", str(file)).stdout == f"{file}: in order\n"
    file.write_text(f"{FREE_PORTS}shard = 3\n[limits]\ntopic_levels_max = -1\n")
    result = call("config", "check", str(file))
    assert result.returncode == 2
    assert result.stderr.splitlines() == [
        f"error: unknown key broker.shard ({file}:4): did you mean broker.shards?",
        f"error: limits.topic_levels_max = -1 ({file}:6): must be greater than or equal to 1",
    ]
    missing = call("config", "check", str(tmp_path / "none.toml"))
    assert missing.returncode == 2
    assert "No such file" in one_error(missing)


def test_check_and_start_hold_limits_against_each_other(tmp_path: Path) -> None:
    """Is a configuration of which one limit makes another unreachable refused by both, with both named?"""
    file = tmp_path / "lapwing.toml"
    file.write_text(f"[limits]\nfilters_per_packet_max = 1024\n{FREE_PORTS}")
    for command in (("config", "check", str(file)), ("broker", "-c", str(file), "--data", str(tmp_path / "data"))):
        result = call(*command)
        assert result.returncode == 2
        line = one_error(result)
        assert f"limits.filters_per_packet_max = 1024 ({file}:2)" in line
        assert "subscriptions_per_session_max = 10000" in line
    assert not (tmp_path / "data").exists()
