"""`compiled_zips.py`: lays beside each module in PySpark's zips what Python compiles it to.

Spark lets its Python workers import PySpark from a zip, and what comes from a zip without compiled modules is compiled
anew in each process: 0.7 s of processor time for each worker that begins, 0.2 s with them. The tests begin hundreds, so
nothing in it is compressed either.
"""

from __future__ import annotations

import marshal
from importlib.util import MAGIC_NUMBER, cache_from_source, find_spec, source_hash
from pathlib import Path
from zipfile import ZipFile

UNCHECKED = (1).to_bytes(4, "little")
"""The flags of a compiled module that Python takes without a look at its source."""


def add_compiled(zip_file: Path, installed: Path) -> None:
    """Writes the zip anew, with compiled modules; one that has them stays as it is.

    Args:
        installed: Where the same modules may lie as files: what pip has compiled of them is taken.
    """
    with ZipFile(zip_file) as before:
        files = {entry.filename: before.read(entry) for entry in before.infolist() if not entry.is_dir()}
    if any(name.endswith(".pyc") for name in files):
        return
    made = zip_file.with_suffix(".made")
    with ZipFile(made, "w") as after:
        for name, content in files.items():
            after.writestr(name, content)
            if name.endswith(".py"):
                code = _compiled(content, name, installed)
                after.writestr(f"{name}c", MAGIC_NUMBER + UNCHECKED + source_hash(content) + code)
    made.replace(zip_file)


def _compiled(source: bytes, name: str, installed: Path) -> bytes:
    file = installed / name
    compiled = Path(cache_from_source(str(file)))
    if compiled.exists() and file.read_bytes() == source:
        return compiled.read_bytes()[len(MAGIC_NUMBER + UNCHECKED) + 8 :]
    return marshal.dumps(compile(source, name, "exec", dont_inherit=True))


def main() -> None:
    """All zips of the PySpark of this environment."""
    spec = find_spec("pyspark")
    assert spec, "PySpark is not installed"
    assert spec.origin, "PySpark is not a package of files"
    home = Path(spec.origin).parent
    for each in sorted((home / "python" / "lib").glob("*.zip")):
        add_compiled(each, home.parent)


if __name__ == "__main__":
    main()
