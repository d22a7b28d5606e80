"""A page's text from the Markdown that was kept beside an explicit archive, where its pixels are lost.

The file is a person's, who may have edited, moved or renamed it: only what matches the page's hash is its text.
"""

from pathlib import Path

from foundation.files import list_files, read_bytes
from memory.archive.keep.kept_text import file_stem
from memory.pages.render.header import digest


def kept_page(folder: Path, label: str, start: int, chars: int, sha256: str) -> str | None:
    """The `chars` characters from `start` of a kept text whose hash is `sha256` (hex); None where none has them."""
    stem = file_stem(label)
    for path in sorted(list_files(folder, "*.md"), key=lambda path: not path.stem.startswith(stem)):
        try:
            text = read_bytes(path).decode("utf-8")
        except (OSError, UnicodeDecodeError):  # not to be read: then the text is in another, or in none
            continue
        piece = text[start : start + chars]
        if digest(piece).hex() == sha256:
            return piece
    return None
