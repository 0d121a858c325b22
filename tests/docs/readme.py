"""The fenced code blocks of a Markdown file, by language."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """One block, and the line on which its code begins."""

    language: str
    code: str
    line: int


def blocks(file: Path, language: str) -> list[Block]:
    """Those in `language`, in order."""
    text = file.read_text()
    found = (Block(m[1], m[2], text.count("\n", 0, m.start(2)) + 1) for m in _BLOCK.finditer(text))
    return [block for block in found if block.language == language]
