"""Which files of the project git has changed and tracked, by reading its index with a configuration of our own.

A repository's own configuration names programs that git runs: a file system monitor, hooks, filters. Git reads none of
it here: it gets an empty git folder, in which only the index and the objects are those of the repository.
"""

import os
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from threading import Lock, Thread
from typing import Final

from msgspec import Struct

from foundation.files import exists, is_file, is_folder, read_text

FRESH_S: Final = 10.0  # seconds until git is asked anew
FRESH_READINGS: Final = 10  # times that the last answer took, until it is asked anew
LIMIT_S: Final = 10.0  # seconds for one command of git
_POINTER: Final = re.compile(r"gitdir: ([^\n]+)\n?")  # the file .git of a worktree
_BRANCH: Final = re.compile(r"ref: (refs/[^\s]+)")
_ID: Final = re.compile(r"[0-9a-f]{40}")


class GitNames(Struct, frozen=True):
    """The names of files, relative to where the person stands. `changed` are also those that git does not know yet."""

    changed: frozenset[str] = frozenset()
    tracked: frozenset[str] = frozenset()

    def rank(self, name: str) -> int:
        """0 for a changed file, 1 for a tracked one, 2 for the others."""
        return 0 if name in self.changed else 1 if name in self.tracked else 2


class GitFiles:
    """Asks git on a thread of its own, and keeps its answer for a while. Without git or a repository: no names."""

    def __init__(self, folders: Sequence[tuple[Path, str]]) -> None:
        """`folders` are those of the project, each with what begins the names of its files: "" or a path and a `/`."""
        self._folders = folders
        self._names = GitNames()
        self._lock = Lock()
        self._reading: Thread | None = None
        self._read_at = 0.0  # on the monotonic clock; 0 for never
        self._took = 0.0  # seconds

    @property
    def is_settled(self) -> bool:
        """Whether git is not being asked."""
        return self._reading is None or not self._reading.is_alive()

    def names(self, wait: float = 0.0, *, is_fresh: bool = False) -> GitNames:
        """What git answered last; asks it anew where that is old. It waits so many seconds the first time, and with
        `is_fresh` each time."""
        with self._lock:
            is_old = not self._read_at or time.monotonic() - self._read_at > max(FRESH_S, FRESH_READINGS * self._took)
            if is_old and self.is_settled:
                self._reading = Thread(target=self._read, name="git files", daemon=True)
                self._reading.start()
        if wait and (is_fresh or not self._read_at) and self._reading is not None:
            self._reading.join(wait)
        return self._names

    def _read(self) -> None:
        began = time.monotonic()
        changed, tracked = set[str](), set[str]()
        program = shutil.which("git")
        try:
            for folder, prefix in self._folders if program and Path(program).is_absolute() else ():
                names = _names_in(program or "", folder)
                changed |= {prefix + name for name in names.changed}
                tracked |= {prefix + name for name in names.tracked} if prefix else names.tracked
        except (OSError, ValueError, subprocess.SubprocessError):  # too slow, damaged, or a form we do not read
            changed, tracked = set(self._names.changed), set(self._names.tracked)
        self._names = GitNames(frozenset(changed), frozenset(tracked))
        self._read_at = time.monotonic()
        self._took = self._read_at - began


def _names_in(program: str, folder: Path) -> GitNames:
    """The names below the folder, relative to it. Raises OSError, ValueError and SubprocessError."""
    root = next((place for place in (folder, *folder.parents) if exists(place / ".git")), None)
    git_folder = _git_folder(root / ".git") if root is not None else None
    if root is None or git_folder is None or not is_file(git_folder / "index"):
        return GitNames()
    common = _common_folder(git_folder)
    with tempfile.TemporaryDirectory(prefix="palimpsest-git-") as empty:
        own = {
            "PATH": os.environ.get("PATH", ""),
            "HOME": empty,
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_OPTIONAL_LOCKS": "0",
            "GIT_TERMINAL_PROMPT": "0",
            "LC_ALL": "C",
        }
        _run([program, "init", "--quiet", "--bare", "--template=", empty], own, Path(empty))
        environment = {
            **own,
            "GIT_DIR": empty,
            "GIT_WORK_TREE": str(root),
            "GIT_INDEX_FILE": str(git_folder / "index"),
            "GIT_OBJECT_DIRECTORY": str(common / "objects"),
        }
        options = [program, "-c", "core.fsmonitor=false", "-c", f"core.hooksPath={os.devnull}", "-c", "core.bare=false"]
        tracked = _run([*options, "ls-files", "-z"], environment, folder)
        own_ignored = common / "info" / "exclude"
        ignored = ["--exclude-standard", *([f"--exclude-from={own_ignored}"] if is_file(own_ignored) else [])]
        changed = _run([*options, "ls-files", "-z", "-m", "-o", *ignored], environment, folder)
        staged: frozenset[str] = frozenset()
        if head := _head(git_folder, common):
            compare = [
                *options,
                "diff-index",
                "-z",
                "--cached",
                "--name-only",
                "--relative",
                "--ignore-submodules",
                head,
            ]
            staged = _run(compare, environment, folder)
    return GitNames(changed | staged, tracked)


def branch_of(root: Path) -> str:
    """The branch that is checked out in a repository's root folder, the beginning of a commit's id, or ""."""
    try:
        folder = _git_folder(root / ".git") if exists(root / ".git") else None
        head = read_text(folder / "HEAD").strip() if folder else ""
    except (OSError, ValueError):
        return ""
    branch = _BRANCH.fullmatch(head)
    return branch[1].removeprefix("refs/heads/") if branch else head[:8] if _ID.fullmatch(head) else ""


def _run(command: Sequence[str], environment: dict[str, str], folder: Path) -> frozenset[str]:
    """The names that git prints. Raises SubprocessError where it fails, or takes too long."""
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        timeout=LIMIT_S,
        check=True,
    )
    return frozenset(done.stdout.decode("utf-8", "surrogateescape").rstrip("\0").split("\0")) - {""}


def _git_folder(path: Path) -> Path | None:
    """The git folder that `.git` is, or names."""
    if is_folder(path):
        return path
    pointer = _POINTER.match(read_text(path))
    return Path(os.path.normpath(path.parent / pointer[1])) if pointer else None


def _common_folder(git_folder: Path) -> Path:
    """The git folder that a worktree shares with others; its own where it shares none."""
    if not is_file(git_folder / "commondir"):
        return git_folder
    return Path(os.path.normpath(git_folder / read_text(git_folder / "commondir").strip()))


def _head(git_folder: Path, common: Path) -> str:
    """The id of the commit that is checked out; "" where there is none, or it is not found."""
    head = read_text(git_folder / "HEAD").strip()
    branch = _BRANCH.fullmatch(head)
    if branch is None or ".." in branch[1]:
        return head if _ID.fullmatch(head) else ""
    if is_file(common / branch[1]):
        head = read_text(common / branch[1]).strip()
        return head if _ID.fullmatch(head) else ""
    packed = read_text(common / "packed-refs") if is_file(common / "packed-refs") else ""
    found = re.search(rf"^({_ID.pattern}) {re.escape(branch[1])}$", packed, re.MULTILINE)
    return found[1] if found else ""
