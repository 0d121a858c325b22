"""Writes what a wheel is made of: dist/lapwing-VERSION.cdx.json, CycloneDX 1.6.

Rust: the crates that are linked into the extension and `lapwingd`, or run while these are built, as `cargo metadata
--locked` resolves them, with the checksums of Cargo.lock. Python: what pip installs beside the wheel, from
pyproject.toml on, with versions and hashes of requirements.lock, for the Python that runs this. Nothing is fetched, and
the same sources give the same bytes.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
import uuid
from collections.abc import Iterable, Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement

ROOT = Path(__file__).parent.parent
ROOTS = ("lapwing-daemon", "lapwing-py")
"""What a wheel has of Rust: the executable and the extension."""
Component = dict[str, Any]
Edges = dict[str, list[str]]
"""What needs what, by package URL."""


def crates() -> tuple[list[Component], Edges, list[str]]:
    """The crates in the wheel, what each needs, and the references of the roots."""
    command = ["cargo", "metadata", "--locked", "--format-version", "1", "--manifest-path", str(ROOT / "Cargo.toml")]
    document = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    packages = {package["id"]: package for package in document["packages"]}
    needs = {
        node["id"]: [need["pkg"] for need in node["deps"] if _is_built(need)] for node in document["resolve"]["nodes"]
    }
    roots = [key for key, package in packages.items() if package["name"] in ROOTS]
    checksums = cargo_checksums((ROOT / "Cargo.lock").read_text())
    linked = sorted(reached(roots, needs), key=lambda key: (packages[key]["name"], packages[key]["version"]))
    components = [_crate(packages[key], checksums) for key in linked]
    edges = {_crate_url(packages[key]): sorted(_crate_url(packages[need]) for need in needs[key]) for key in linked}
    return components, edges, sorted(_crate_url(packages[root]) for root in roots)


def _is_built(need: dict[str, Any]) -> bool:
    """Whether it is needed for building; not for tests only."""
    return any(kind["kind"] in (None, "build") for kind in need["dep_kinds"])


def cargo_checksums(lock: str) -> dict[tuple[str, str], str]:
    """SHA-256 by name and version; what lies in the tree has none."""
    packages = tomllib.loads(lock)["package"]
    return {(package["name"], package["version"]): package["checksum"] for package in packages if "checksum" in package}


def _crate_url(package: dict[str, Any]) -> str:
    return f"pkg:cargo/{package['name']}@{package['version']}"


def _crate(package: dict[str, Any], checksums: dict[tuple[str, str], str]) -> Component:
    checksum = checksums.get((package["name"], package["version"]))
    return component(_crate_url(package), package["name"], package["version"], package["license"], [checksum or ""])


def distributions() -> tuple[list[Component], Edges, list[str]]:
    """What pip installs beside the wheel, what each needs, and the references of what the wheel itself names."""
    locked = locked_versions((ROOT / "requirements.lock").read_text())
    named = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    direct = sorted(needed(named))
    needs: Edges = {}
    waiting = list(direct)
    while waiting:
        name = waiting.pop()
        if name not in needs:
            needs[name] = sorted(needed(metadata.requires(name) or []))
            waiting += needs[name]
    urls = {name: f"pkg:pypi/{name}@{locked[name][0]}" for name in needs}
    components = [
        component(urls[name], name, locked[name][0], metadata.metadata(name).get("License-Expression"), locked[name][1])
        for name in sorted(needs)
    ]
    edges = {urls[name]: [urls[need] for need in needs[name]] for name in sorted(needs)}
    return components, edges, [urls[name] for name in direct]


def needed(requirements: Iterable[str]) -> Iterator[str]:
    """Names of those that hold on this machine, without extras, as indexes write them."""
    for text in requirements:
        requirement = Requirement(text)
        if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
            yield canonical(requirement.name)


def canonical(name: str) -> str:
    """A distribution's name as indexes write it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def locked_versions(lock: str) -> dict[str, tuple[str, list[str]]]:
    """Version and hashes of each distribution by name, for this Python: some have another version for each."""
    blocks = re.findall(r"^(\w[^\n\\]*)((?: *\\\n +--hash=sha256:\w+)+)", lock, re.MULTILINE)
    pinned = [(Requirement(text.strip()), hashes) for text, hashes in blocks]
    return {
        canonical(one.name): (str(one.specifier).removeprefix("=="), re.findall(r"sha256:(\w+)", hashes))
        for one, hashes in pinned
        if one.marker is None or one.marker.evaluate()
    }


def reached(roots: Iterable[str], needs: Edges) -> set[str]:
    """Everything that the roots need, they too."""
    found: set[str] = set()
    waiting = list(roots)
    while waiting:
        key = waiting.pop()
        if key not in found:
            found.add(key)
            waiting += needs[key]
    return found


def component(url: str, name: str, version: str, licence: str | None, hashes: Iterable[str]) -> Component:
    """One library; of a distribution with several files there are several hashes."""
    made: Component = {"type": "library", "bom-ref": url, "name": name, "version": version, "purl": url}
    if known := [{"alg": "SHA-256", "content": digest} for digest in hashes if digest]:
        made["hashes"] = known
    if licence:
        made["licenses"] = [{"expression": licence.replace("/", " OR ")}]
    return made


def bill(version: str) -> dict[str, Any]:
    """The whole document."""
    rust, rust_edges, roots = crates()
    python, python_edges, direct = distributions()
    own = component(f"pkg:pypi/lapwing@{version}", "lapwing", version, "Apache-2.0", []) | {"type": "application"}
    edges = {own["bom-ref"]: [*roots, *direct], **rust_edges, **python_edges}
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": own},
        "components": rust + python,
        "dependencies": [{"ref": ref, "dependsOn": needs} for ref, needs in edges.items()],
    }
    # Of the content, so that the same sources have the same number.
    serial = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(document, sort_keys=True))
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "serialNumber": f"urn:uuid:{serial}",
        **document,
    }


def main() -> int:
    """Writes the file into dist/, and says where."""
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    file = ROOT / "dist" / f"lapwing-{version}.cdx.json"
    file.parent.mkdir(exist_ok=True)
    document = bill(version)
    file.write_text(json.dumps(document, indent=1) + "\n")
    print(f"{file.relative_to(ROOT)}: {len(document['components'])} components")
    return 0


if __name__ == "__main__":
    sys.exit(main())
