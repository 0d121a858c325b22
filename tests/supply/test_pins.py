"""Is what others wrote pinned, and does a jar, a lock file or a list of parts that is not as it was end a build?"""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from tools.audit import Part, judged
from tools.jars import differences, read_pins
from tools.sbom import bill, cargo_checksums, locked_versions, reached

ROOT = Path(__file__).parents[2]
POMS = [path for path in ROOT.rglob("pom.xml") if not {"target", ".cache", ".venv"} & set(path.parts)]


def test_every_jar_is_pinned() -> None:
    """Has each pom.xml its hashes, and does the Makefile hold what Maven fetches for it against them?"""
    assert len(POMS) == 3
    fetches = re.findall(r"^\t@mvn .*\n\t(.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert len(fetches) == len(POMS)
    assert all(line.startswith("@$(PYTHON) tools/jars.py check $@ ") for line in fetches)
    for pom in POMS:
        pins = read_pins((pom.parent / "jars.sha256").read_text())
        assert pins
        assert all(name.endswith(".jar") and re.fullmatch(r"[0-9a-f]{64}", digest) for name, digest in pins.items())


@pytest.fixture
def fetched(tmp_path: Path) -> tuple[Path, Path]:
    """A folder of two jars, and their pins."""
    folder, pins = tmp_path / "jars", tmp_path / "jars.sha256"
    folder.mkdir()
    for name in ("a-1.jar", "b-2.jar"):
        (folder / name).write_bytes(name.encode())
    assert jars("pin", folder, pins).returncode == 0
    assert f"{hashlib.sha256(b'a-1.jar').hexdigest()}  a-1.jar\n" in pins.read_text()
    return folder, pins


def jars(command: str, folder: Path, pins: Path) -> subprocess.CompletedProcess[str]:
    program = [sys.executable, str(ROOT / "tools" / "jars.py"), command, str(folder), str(pins)]
    return subprocess.run(program, capture_output=True, text=True, timeout=60, check=False)


def test_jars_as_they_were_are_kept(fetched: tuple[Path, Path]) -> None:
    folder, _ = fetched
    assert jars("check", *fetched).returncode == 0
    assert len(list(folder.iterdir())) == 2


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [("a-1.jar", b"another", "another hash"), ("c-3.jar", b"new", "not pinned"), ("b-2.jar", None, "not there")],
)
def test_other_jars_are_refused_and_removed(
    fetched: tuple[Path, Path], name: str, content: bytes | None, said: str
) -> None:
    """Does nothing stay that the next `make` would take for fetched?"""
    folder, _ = fetched
    if content is None:
        (folder / name).unlink()
    else:
        (folder / name).write_bytes(content)
    refused = jars("check", *fetched)
    assert refused.returncode == 1
    assert name in refused.stderr
    assert said in refused.stderr
    assert not folder.exists()


def test_differences_are_all_named() -> None:
    assert differences({"a": "1", "b": "2"}, {"a": "1", "b": "2"}) == []
    assert len(differences({"a": "1", "c": "3"}, {"a": "2", "b": "2"})) == 3


def test_every_build_is_locked() -> None:
    """Does each call of cargo that resolves crates take Cargo.lock as it is?"""
    texts = [(ROOT / "Makefile").read_text(), (ROOT / "tools" / "suite" / "rust_phase.py").read_text()]
    calls = [line for text in texts for line in text.replace('", "', " ").splitlines()]
    resolving = [line for line in calls if re.search(r"\bcargo (test|clippy|build|run|install|doc)\b", line)]
    resolving = [line for line in resolving if "@" in line or "[" in line]
    assert len(resolving) > 8
    assert [line for line in resolving if "--locked" not in line] == []
    assert "MATURIN_PEP517_ARGS" in texts[0]
    assert [line for line in texts[0].splitlines() if "MATURIN_PEP517_ARGS" in line and "--locked" not in line] == []


def test_the_bill_has_what_the_lock_files_have() -> None:
    """Is every crate and distribution in it with version and hash, nothing that is only for tests, and no loose end?"""
    document = bill("0.1.0")
    components = {one["bom-ref"]: one for one in document["components"]}
    assert len(components) == len(document["components"])
    checksums = cargo_checksums((ROOT / "Cargo.lock").read_text())
    locked = locked_versions((ROOT / "requirements.lock").read_text())
    for url, one in components.items():
        hashes = [each["content"] for each in one.get("hashes", ())]
        if url.startswith("pkg:cargo/"):
            checksum = checksums.get((one["name"], one["version"]))
            assert hashes == ([checksum] if checksum else []), url
            assert checksum or one["name"].startswith("lapwing-"), url
            assert one["licenses"], url
        else:
            assert (one["version"], hashes) == locked[one["name"]], url
            assert hashes, url
    names = {one["name"] for one in components.values()}
    assert {"rustls", "mio", "lapwing-node", "lapwing-daemon", "pydantic-core", "starlette", "pyspark"} <= names
    assert not {"pytest", "proptest", "hypothesis", "lapwing-swarm-bench"} & names
    edges = {edge["ref"]: edge["dependsOn"] for edge in document["dependencies"]}
    own = document["metadata"]["component"]["bom-ref"]
    assert reached([own], edges) == {own, *components}, "everything is there because something needs it"


def test_the_bill_is_the_same_twice() -> None:
    assert json.dumps(bill("0.1.0")) == json.dumps(bill("0.1.0"))


def may_be_used(expression: str, allowed: set[str]) -> bool:
    """Whether licences that are allowed satisfy an expression of SPDX."""
    with_exception = re.sub(r"\s+WITH\s+", "+WITH+", expression)
    words = re.findall(r"[()]|[\w.+-]+", with_exception)
    known = {"OR": "or", "AND": "and", "(": "(", ")": ")"}
    return bool(eval(" ".join(known.get(word, str(word.replace("+WITH+", " WITH ") in allowed)) for word in words)))


def test_licences_are_those_that_may_be_shipped() -> None:
    """What `make audit` asks cargo-deny, of the crates in the wheel, where there is no cargo-deny: at each CI."""
    allowed = set(tomllib.loads((ROOT / "deny.toml").read_text())["licenses"]["allow"])
    assert may_be_used("MIT OR (Apache-2.0 AND Nonsense)", allowed)
    assert may_be_used("Apache-2.0 WITH LLVM-exception", allowed)
    assert not may_be_used("GPL-3.0-only", allowed)
    assert not may_be_used("MIT AND GPL-3.0-only", allowed)
    crates = [one for one in bill("0.1.0")["components"] if one["purl"].startswith("pkg:cargo/")]
    licences = {one["name"]: one["licenses"][0]["expression"] for one in crates}
    assert {name: text for name, text in licences.items() if not may_be_used(text, allowed)} == {}


def test_crates_come_from_one_registry() -> None:
    """Neither a repository nor a second registry is a source; what has none lies in the tree."""
    packages = tomllib.loads((ROOT / "Cargo.lock").read_text())["package"]
    sources = {one["source"] for one in packages if "source" in one}
    assert len(sources) == 1
    assert next(iter(sources)).startswith("registry+")
    assert {one["name"].partition("-")[0] for one in packages if "source" not in one} == {"lapwing"}


def test_fuzzers_and_project_lock_the_same_versions() -> None:
    """What is fuzzed is what is shipped: of a crate that both have, the same versions."""
    own, fuzz = (
        {(one["name"], one["version"]) for one in tomllib.loads(file.read_text())["package"]}
        for file in (ROOT / "Cargo.lock", ROOT / "fuzz" / "Cargo.lock")
    )
    ours = {name for name, _ in own}
    assert {one for one in fuzz - own if one[0] in ours} == set()


def test_an_audit_says_what_it_could_not_look_at() -> None:
    """Is an index without advisories no clean bill, and a hole wrong with its name?"""
    clean = {"name": "a", "version": "1", "vulns": []}
    hole = {"name": "b", "version": "2", "vulns": [{"id": "PYSEC-1"}]}
    skipped = {"name": "c", "skip_reason": "not found"}
    assert judged([clean]) == Part("Python: advisories", False, "", "")
    assert "not whole" in judged([clean, skipped]).line()
    assert "1 of 2 distributions" in judged([clean, skipped]).lacks
    wrong = judged([clean, hole, skipped])
    assert wrong.is_wrong
    assert "b 2: PYSEC-1" in wrong.line()
