"""The fenced code blocks of a Markdown file, by language."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

_BLOCK = re.compile(r"^```(\w*) ?([^\n]*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """One block, the line on which its code begins, and what stands behind its language: ```` ```sh spark ````."""

    language: str
    code: str
    line: int
    note: str = ""


def all_blocks(file: Path) -> list[Block]:
    """Every block, in order."""
    return blocks_of(file.read_text())


def blocks_of(text: str) -> list[Block]:
    """Those of a page that was read already."""
    return [Block(m[1], m[3], text.count("\n", 0, m.start(3)) + 1, m[2]) for m in _BLOCK.finditer(text)]


def blocks(file: Path, language: str) -> list[Block]:
    """Those in `language`, in order."""
    return [block for block in all_blocks(file) if block.language == language]
