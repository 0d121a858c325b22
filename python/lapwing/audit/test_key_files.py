"""Does the record of a reload name the listeners whose certificates, lists or keys are others, and only those?"""

from __future__ import annotations

from pathlib import Path

from lapwing.audit.key_files import KeyFiles
from lapwing.config import Config


def test_what_is_in_the_files_counts(tmp_path: Path) -> None:
    files = {
        name: tmp_path / name for name in ("server.pem", "server.key", "ca.pem", "one.crl", "two.crl", "devices.psk")
    }
    for file in files.values():
        file.write_text("first")
    tls = {"certificate": files["server.pem"], "key": files["server.key"], "client_ca": files["ca.pem"]}
    mqtt = {"url": "tls://127.0.0.1:8883", **tls, "client_certificate": "required"}
    config = Config.model_validate(
        {
            "listeners": [
                {**mqtt, "crl": [files["one.crl"], files["two.crl"]]},
                {"url": "sns://127.0.0.1:8883", "psk": files["devices.psk"]},
                {"url": "tcp://127.0.0.1:1883"},
            ],
            "http": {"certificate": files["server.pem"], "key": files["server.key"]},
        }
    )
    before = KeyFiles(config)
    assert before.changes_to(KeyFiles(config)) == []
    files["two.crl"].write_text("second")
    assert before.changes_to(KeyFiles(config)) == ["tls://127.0.0.1:8883"]
    files["devices.psk"].write_text("")
    emptied = KeyFiles(config)
    files["devices.psk"].unlink()
    assert emptied.changes_to(KeyFiles(config)) == ["sns://127.0.0.1:8883"], "gone is not empty"
    assert before.changes_to(KeyFiles(config)) == ["tls://127.0.0.1:8883", "sns://127.0.0.1:8883"]
    files["server.key"].write_text("second")
    assert before.changes_to(KeyFiles(config))[-1] == "http"
