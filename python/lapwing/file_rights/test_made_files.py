"""Are the audit trail, and a Unix socket's folder, held against who else may write there, as what is believed is?"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from lapwing.config import Config
from lapwing.errors import ConfigError
from lapwing.file_rights import check_files


def config(folder: Path, **more: object) -> Config:
    broker = {"data": folder / "data", "listen": [f"unix://{folder}/open/mqtt.sock"], **more}
    return Config.model_validate({"broker": broker, "audit": {"file": folder / "open" / "audit.jsonl"}})


def test_a_folder_of_everybody_is_no_place_for_them(tmp_path: Path) -> None:
    folder = tmp_path.resolve()
    (folder / "open").mkdir()
    (folder / "open").chmod(0o777)
    with pytest.raises(ConfigError) as refused:
        check_files(config(folder), os.getuid())
    assert "decides whose the audit trail is, and every user" in str(refused.value)
    (told,) = check_files(config(folder, files="warn"), os.getuid())
    assert "chmod" in told
    without_trail = config(folder).model_copy(update={"audit": Config().audit})
    with pytest.raises(ConfigError, match="who listens at the broker's Unix socket"):
        check_files(without_trail, os.getuid())
    (folder / "open").chmod(0o755)
    assert check_files(config(folder), os.getuid()) == []
