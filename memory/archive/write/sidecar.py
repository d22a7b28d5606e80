"""Sidecar texts of explicit archives: `memory/archive/<label>.md`, for a person to read and to search.

They are also the source of a page's text where its pixels are lost. The user may have edited, moved or renamed the
file: only text that matches the page's hash is used.
"""

import re
import secrets
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

from foundation.files import (
    encode,
    list_files,
    make_folder,
    read_bytes,
    remove,
    replace,
    sync_folder,
    write_temporary,
)
from foundation.files.atomic_exchange import ASIDE, link_if_free
from foundation.privacy import Cleared, clear
from memory.pages.render.header import text_digest

_NOT_IN_NAMES = re.compile(r'[<>:"/\\|?*\x00-\x1f\x7f\ud800-\udfff]+')
_RESERVED = re.compile(r"(?i)(con|prn|aux|nul|com\d|lpt\d)(\..*)?$")  # Windows
_LONGEST = 60  # characters, at most four bytes each: under the 255 bytes of every file system


def keep_text(
    folder: Path, label: str, text: Cleared, is_archived: Callable[[str], bool] = lambda _text: False
) -> Path:
    """Writes the text as `<label>.md` in `folder`, and gives its path.

    Earlier texts of the label are removed where `is_archived` says that its pages hold them to the letter: a label has
    one file. A text that the user edited stays, as does that of another label: then a number follows the name.
    """
    make_folder(folder)
    for aside in kept_files_of(folder, label, before=r"\.", after=rf"\.[0-9a-f]+{re.escape(ASIDE)}"):
        _restore_unless(aside, label, _is_copy(read_bytes(aside), is_archived))  # a removal was cut short
    same: Path | None = None
    for path in kept_files_of(folder, label):
        body = read_bytes(path)
        if same is None and body == encode(text):
            same = path
        elif _is_copy(body, is_archived):
            _remove_copy(path, label, body)
    return same or _write_free(folder, label, text)


def kept_files_of(folder: Path, label: str, *, before: str = "", after: str = "") -> list[Path]:
    """The label's files; those that were moved aside have a dot before the name and an ending after it."""
    name = re.compile(rf"{before}{re.escape(file_stem(label))}(-\d+)?\.md{after}")
    return [path for path in list_files(folder) if name.fullmatch(path.name)]


def _is_copy(body: bytes, is_archived: Callable[[str], bool]) -> bool:
    try:
        return is_archived(body.decode("utf-8"))
    except UnicodeDecodeError:
        return False


def _remove_copy(path: Path, label: str, body: bytes) -> None:
    """Removes a file that holds `body`. It is moved aside and read again: an edit of that instant is put back."""
    aside = path.with_name(f".{path.name}.{secrets.token_hex(6)}{ASIDE}")
    replace(path, aside)
    _restore_unless(aside, label, read_bytes(aside) == body)


def _restore_unless(aside: Path, label: str, is_copy: bool) -> None:
    if not is_copy:
        next(free for free in _names(aside.parent, file_stem(label)) if link_if_free(aside, free))
    remove(aside, missing_ok=True)


def _write_free(folder: Path, label: str, text: Cleared) -> Path:
    """Writes the text under the first free name, never over another file."""
    stem = file_stem(label)
    beside = write_temporary(folder / f"{stem}.md", text)
    try:
        path = next(free for free in _names(folder, stem) if link_if_free(beside, free))
    finally:
        remove(beside, missing_ok=True)
    sync_folder(folder)
    return path


def _names(folder: Path, stem: str) -> Iterator[Path]:
    return (folder / (f"{stem}.md" if number == 1 else f"{stem}-{number}.md") for number in count(1))


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
