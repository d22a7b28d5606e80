"""Sidecar texts of explicit archives: `memory/archive/<label>.md`, for a person to read and to search.

They are also the source of a page's text where its pixels are lost. The user may have edited, moved or renamed the
file: only text that matches the page's hash is used.
"""

import re
from itertools import count
from pathlib import Path

from foundation.files import encode, exists, is_file, list_files, make_folder, read_bytes, write_atomically
from foundation.privacy import Cleared, clear
from memory.pages.render.header import text_digest

_NOT_IN_NAMES = re.compile(r'[<>:"/\\|?*\x00-\x1f\x7f\ud800-\udfff]+')
_RESERVED = re.compile(r"(?i)(con|prn|aux|nul|com\d|lpt\d)(\..*)?$")  # Windows
_LONGEST = 60  # characters, at most four bytes each: under the 255 bytes of every file system


def keep_text(folder: Path, label: str, text: Cleared) -> Path:
    """Writes the text as `<label>.md` in `folder`, and gives its path; never over another text of that name."""
    make_folder(folder)
    stem = file_stem(label)
    for number in count(1):
        path = folder / (f"{stem}.md" if number == 1 else f"{stem}-{number}.md")
        if not exists(path):
            write_atomically(path, text)
            return path
        if is_file(path) and read_bytes(path) == encode(text):
            return path
    raise AssertionError


def file_stem(label: str) -> str:
    """The label as a portable file name, redacted."""
    stem = _NOT_IN_NAMES.sub("-", clear(label))[:_LONGEST].strip(" .-") or "archive"
    return f"{stem}-" if _RESERVED.match(stem) else stem


def page_of_sidecar(folder: Path, label: str, start: int, chars: int, sha256: str) -> str | None:
    """The `chars` characters from `start` of a sidecar text whose hash is `sha256` (hex); None where none has them."""
    stem = file_stem(label)
    for path in sorted(list_files(folder, "*.md"), key=lambda path: not path.stem.startswith(stem)):
        try:
            text = read_bytes(path).decode("utf-8")
        except (OSError, UnicodeDecodeError):  # not to be read: then the text is in another, or in none
            continue
        piece = text[start : start + chars]
        if text_digest(piece).hex() == sha256:
            return piece
    return None
