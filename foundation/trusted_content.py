"""Digests of what a workspace brings that acts: its configuration, its hooks, what they run, and its skills."""

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from msgspec import Struct

from foundation.files import resolve_path, scan
from foundation.files.untrusted import MOST_BYTES, UnreadableFile, read_own_bytes
from foundation.named_programs import named_programs
from foundation.paths import Workspace

MOST_FILES = 2_000
MOST_FOLLOWED = 200  # files behind links of hooks
MOST_PROGRAM_BYTES = 64_000_000
NONE = ""
NEW, CHANGED, REMOVED = "new", "changed", "removed"


class ContentDigests(Struct, frozen=True):
    """SHA-256 in hex, "" where there is nothing; skills and programs by their name relative to the workspace."""

    config: str = NONE
    hooks: str = NONE
    skills: dict[str, str] = {}
    programs: dict[str, str] = {}

    def changes(self, trusted: "ContentDigests") -> tuple[tuple[str, str], ...]:
        """(relative name, NEW, CHANGED or REMOVED) of each difference to the trusted content, by name."""
        now, then = self._by_name(), trusted._by_name()
        return tuple(
            (name, REMOVED if name not in now else CHANGED if name in then else NEW)
            for name in sorted(now | then)
            if now.get(name) != then.get(name)
        )

    def _by_name(self) -> dict[str, str]:
        own = {"config.yaml": self.config, "hooks": self.hooks}
        programs = {f"./{name}": digest for name, digest in self.programs.items()}  # one of a skill stands in both
        return {name: digest for name, digest in own.items() if digest != NONE} | self.skills | programs


def content_digests(workspace: Workspace) -> ContentDigests:
    """What the workspace brings now. Nothing raises. Of links out of it those are followed that are allowed, and those
    to what hooks and MCP servers run, of which nothing but the digest is known."""
    hooks = [path for path, _ in _entries(workspace.state) if path.name.startswith("hooks")]
    digests = [f"{path.name}:{digest}" for hook in hooks for path, digest in _hook_files(hook)]
    skills = {
        PurePosixPath("skills", path.relative_to(workspace.skills)).as_posix(): digest
        for path, digest in _files(workspace.skills, workspace.bounds_of(workspace.skills / "x"))
    }
    config = _digest(workspace.config, workspace.root) if os.path.lexists(workspace.config) else NONE
    programs = {
        name: _digest(path, None, MOST_PROGRAM_BYTES)
        for name, path in (named_programs(workspace.config, workspace.root) if config != NONE else {}).items()
    }
    hooks_digest = hashlib.sha256("\n".join(digests).encode()).hexdigest() if digests else NONE
    return ContentDigests(config, hooks_digest, skills, programs)


def _hook_files(path: Path) -> Iterator[tuple[Path, str]]:
    """Every file at or below `path`, also behind links, and its digest."""
    waiting, walked = [(path, MOST_FILES)], set[Path]()
    count = 0
    while waiting:
        here, most = waiting.pop(0)
        if here.is_dir():
            target = resolve_path(here)
            if here.is_symlink():
                most = MOST_FOLLOWED
                yield here, f"link to {target}"
            if target not in walked:
                walked.add(target)
                waiting += [(here / below.name, most) for below, _ in _entries(target)]
        elif os.path.lexists(here):
            count += 1
            if count > most:
                yield path / "…", "too many files"
                return
            yield here, _digest(here, None)


def _files(path: Path, root: Path) -> Iterator[tuple[Path, str]]:
    """Every file at or below `path`, and its digest; links are not followed, their targets are digested."""
    waiting, count = [path], 0
    while waiting:
        here = waiting.pop(0)
        if not os.path.lexists(here):
            continue
        if here.is_symlink() or not here.is_dir():
            count += 1
            if count > MOST_FILES:
                yield path / "…", "too many files"
                return
            yield here, _digest(here, root)
        else:
            waiting += [below for below, _ in _entries(here)]


def _digest(path: Path, root: Path | None, most: int = MOST_BYTES) -> str:
    try:
        link = f"link to {path.readlink()}: " if path.is_symlink() else ""
        return hashlib.sha256(
            link.encode("utf-8", "surrogateescape") + read_own_bytes(path, within=root, most=most)
        ).hexdigest()
    except (OSError, UnreadableFile) as error:
        return f"unreadable: {error}"


def _entries(folder: Path) -> list[tuple[Path, os.stat_result]]:
    try:
        return scan(folder)
    except OSError:  # a link, or a folder that may not be read
        return []
