"""Finds conversations of other programs on this machine, by the names and sizes of their files: none is opened."""

import os
import re
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from msgspec import Struct

from foundation.sizes import format_size

MAX_SECONDS: Final = 3.0  # after which the search ends with what it has
MAX_DEPTH: Final = 5  # folders below the one that is searched
_EXPORT: Final = re.compile(
    r"(conversations.*\.json|data-\d{4}.*batch.*\.zip|.*(chatgpt|claude).*\.zip|[0-9a-f]{32,}.*\.zip)", re.IGNORECASE
)

_SESSIONS: Final = {
    "claude-code": re.compile(r".*\.jsonl"),
    "codex": re.compile(r".*\.jsonl"),
    "gemini": re.compile(r"[^/]+/chats/.*\.jsonl?"),
    "opencode": re.compile(r"opencode[^/]*\.db"),
}
"""Paths of sessions in the program's folder, by format."""


class FoundConversations(Struct, frozen=True, kw_only=True):
    """Files of one program. `form` is the format, "" where the content shows it."""

    id: str  # `codex`, or the path of an export
    label: str
    form: str = ""
    files: tuple[Path, ...]
    size: int  # bytes

    @property
    def amount(self) -> str:
        """`2 files, 5 kB`"""
        count = len(self.files)
        return f"{count:,} {'file' if count == 1 else 'files'}, {format_size(self.size)}"


def find_conversations_on_disk(home: Path, environment: Mapping[str, str]) -> list[FoundConversations]:
    """Sessions of coding agents, and exports of ChatGPT and Claude in Downloads. Blocks, for a bounded time."""
    deadline = time.monotonic() + MAX_SECONDS
    data = Path(environment.get("XDG_DATA_HOME") or home / ".local/share") / "opencode"
    programs = (
        ("claude-code", "Claude Code", Path(environment.get("CLAUDE_CONFIG_DIR") or home / ".claude") / "projects"),
        ("codex", "Codex", Path(environment.get("CODEX_HOME") or home / ".codex") / "sessions"),
        ("gemini", "Gemini CLI", Path(environment.get("GEMINI_CLI_HOME") or home) / ".gemini" / "tmp"),
        ("opencode", "opencode", data),
    )
    found: list[FoundConversations] = []
    for form, label, folder in programs:
        is_session = _SESSIONS[form].fullmatch
        below = _files(folder, deadline, depth=0 if form == "opencode" else MAX_DEPTH)
        sizes = {path: size for path, size in below if is_session(path.relative_to(folder).as_posix())}
        if form == "opencode" and not sizes and (folder / "storage").is_dir():
            sizes = {folder / "storage": sum(size for _, size in _files(folder / "storage", deadline))}
        if sizes:
            files = tuple(sorted(sizes))
            found.append(FoundConversations(id=form, label=label, form=form, files=files, size=sum(sizes.values())))
    exports = _files(home / "Downloads", deadline, depth=1)
    found += [
        FoundConversations(id=str(path), label=f"Export of ChatGPT or Claude: {path.name}", files=(path,), size=size)
        for path, size in sorted(exports)
        if _EXPORT.fullmatch(path.name)
    ]
    return found


def find_named(found: list[FoundConversations], name: str) -> FoundConversations | None:
    """The one of this name, else the only one whose name begins with it: `claude` is `claude-code`."""
    matches = [source for source in found if source.id == name]
    matches = matches or [source for source in found if name and source.id.startswith(name.lower())]
    return matches[0] if len(matches) == 1 else None


def _files(folder: Path, deadline: float, depth: int = MAX_DEPTH) -> Iterator[tuple[Path, int]]:
    """The files below the folder with their sizes. No link is followed, and a folder that cannot be read is empty."""
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if time.monotonic() > deadline:
                    return
                if entry.is_file(follow_symlinks=False):
                    yield Path(entry.path), entry.stat(follow_symlinks=False).st_size
                elif depth and entry.is_dir(follow_symlinks=False):
                    yield from _files(Path(entry.path), deadline, depth - 1)
    except OSError:
        return
