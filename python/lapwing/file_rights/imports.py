"""What a module imports, by its text: nothing of it is run."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from pathlib import Path


def imports_in(source: Path, name: str) -> tuple[str, ...]:
    """Names of modules that may be imported, absolute; some may be names in a module.

    Args:
        source: The module's file. One that cannot be read, or is no Python, imports nothing: its own import says so.
        name: Its name.
    """
    try:
        found = source.stat()
        return _imports_in(source, name, (found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns))
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return ()


@functools.lru_cache(maxsize=4096)
def _imports_in(source: Path, name: str, _stamp: tuple[int, ...]) -> tuple[str, ...]:
    package = name if source.name == "__init__.py" else name.rpartition(".")[0]
    tree = ast.parse(source.read_bytes())
    return tuple(dict.fromkeys(found for node in ast.walk(tree) for found in _of_node(node, package)))


def _of_node(node: ast.AST, package: str) -> Iterator[str]:
    match node:
        case ast.Import():
            yield from (alias.name for alias in node.names)
        case ast.ImportFrom():
            base = _absolute(node.module or "", node.level, package)
            yield from filter(None, [base, *(f"{base}.{alias.name}" for alias in node.names if base)])
        case ast.Call(args=[ast.Constant(value=str() as module), *_]) if _is_import(node.func):
            yield from [module] if module and not module.startswith(".") else ()


def _absolute(module: str, level: int, package: str) -> str:
    """The whole name of what ``level`` dots stand before; empty: there is none."""
    if level == 0:
        return module
    parts = package.split(".")
    around = parts[: len(parts) - level + 1] if level <= len(parts) else []
    return ".".join([*around, module] if module else around) if around else ""


def _is_import(called: ast.expr) -> bool:
    """``importlib.import_module`` and ``__import__``, however they were imported."""
    name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
    return name in ("import_module", "__import__")
