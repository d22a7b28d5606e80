"""A copy of a workspace, and whether anything below it changed."""

import hashlib
from pathlib import Path


def tree(root: Path) -> str:
    """A hash of every name, mode, time and byte below a folder."""
    whole = hashlib.sha256()
    for path in sorted([root, *root.rglob("*")]):
        found = path.lstat()
        whole.update(f"{path.relative_to(root)} {found.st_mode} {found.st_mtime_ns} {found.st_size}".encode())
        if path.is_file() and not path.is_symlink():
            whole.update(path.read_bytes())
    return whole.hexdigest()


def conversation_of(root: Path) -> str:
    return next(path.stem for path in (root / "conversations").glob("*.md"))
