"""Judges repositories that a command made: what git would run of them when the person, or an editor, looks at them.

A repository as `git init` and `git clone` leave it runs nothing. One with hooks, or with settings other than those, is
set aside: its `.git` gets another name.
"""

import os
import re
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from typing import Final

from foundation.files.untrusted import read_own_bytes

ASIDE: Final = ".git.made-by-a-command"
_MOST_CONFIG: Final = 200_000  # bytes; a longer configuration is not judged harmless
_SECTION: Final = re.compile(r"""\[\s*([\w.-]+)(?:\s+"((?:[^"\\]|\\.)*)")?\s*\]\s*""")
_SETTING: Final = re.compile(r"([A-Za-z][\w-]*)\s*(?:=\s*(.*))?\Z")
_HARMLESS: Final = frozenset(
    {
        *("core.repositoryformatversion", "core.filemode", "core.bare", "core.logallrefupdates", "core.symlinks"),
        *("core.ignorecase", "core.precomposeunicode", "core.autocrlf", "core.eol", "core.safecrlf", "core.longpaths"),
        *("extensions.objectformat", "extensions.compatobjectformat", "extensions.refstorage"),
        *("extensions.partialclone", "remote.fetch", "remote.tagopt"),
        *("remote.promisor", "remote.partialclonefilter", "remote.mirror", "branch.remote", "branch.merge"),
        *("branch.rebase", "branch.pushremote", "branch.description", "user.name", "user.email", "init.defaultbranch"),
        *("submodule.active", "submodule.branch", "pull.rebase", "pull.ff", "commit.gpgsign"),
        *("push.default", "push.autosetupremote", "gc.auto", "gc.autodetach", "advice.detachedhead"),
    }
)


_ADDRESSES: Final = frozenset({"remote.url", "remote.pushurl", "submodule.url"})


def danger(repository: Path, known: Collection[Path] = ()) -> str:
    """Why git may run programs of the repository in this folder, as the end of a sentence; "" where it does not.

    `known` are the repositories that no command made, or that were judged.
    """
    own = repository / ".git"
    try:
        if own.is_symlink():
            return "is a link"
        if own.is_dir():
            return _danger_in(own, repository)
        return _danger_behind(own, known)
    except (OSError, ValueError):  # no text, or no path
        return "cannot be read"


def set_aside(repository: Path) -> Path | None:
    """Renames the `.git`; gives its new path, None where that failed."""
    for number in range(1, 100):
        aside = repository / (ASIDE if number == 1 else f"{ASIDE}-{number}")
        if not os.path.lexists(aside):
            with suppress(OSError):
                (repository / ".git").rename(aside)
                return aside
            return None
    return None


def _danger_behind(own: Path, known: Collection[Path]) -> str:
    """The same of a file `.git`, which names the git folder."""
    text = _text(own)
    if not text.startswith("gitdir:"):
        return ""  # git reads no further
    folder = Path(os.path.realpath(own.parent / text.removeprefix("gitdir:").strip()))
    if any(folder.parent == Path(os.path.realpath(main / ".git" / "worktrees")) for main in known):
        return "" if _text(folder / "commondir").strip() == "../.." else "leads to another repository"
    return _danger_in(folder, own.parent)


def _danger_in(folder: Path, repository: Path) -> str:
    """The same of a git folder, whose files are in `repository`."""
    hooks = folder / "hooks"
    if hooks.is_symlink() or any(not name.endswith(".sample") for name in _names(hooks)):
        return "has hooks"
    if any(os.path.lexists(folder / name) for name in ("commondir", "config.worktree")):
        return "has settings elsewhere"
    setting = _foreign_setting(_text(folder / "config"), folder, os.path.realpath(repository))
    return f"sets {setting}" if setting else ""


def _foreign_setting(text: str, folder: Path, repository: str) -> str:
    """The first setting that git does not make by itself; "" for none."""
    section = name = ""
    for written in text.splitlines():
        line = written.strip()
        if not line or line[0] in "#;":
            continue
        if match := _SECTION.match(line):
            section, name = match[1].casefold(), match[2] or ""
            line = line[match.end() :]
            if not line or line[0] in "#;":
                continue
        setting = _SETTING.match(line)
        if setting is None or written.endswith("\\"):
            return "what cannot be read"
        key = f"{section}.{setting[1].casefold()}"
        value = (setting[2] or "").strip(' "')
        if key == "core.worktree":  # of a submodule
            is_harmless = os.path.realpath(folder / value) == repository
        elif key in _ADDRESSES:
            is_harmless = "::" not in value and not value.startswith("-")
        else:
            is_harmless = key in _HARMLESS
        if not is_harmless:
            return f"{section}.{name}.{setting[1]}" if name else f"{section}.{setting[1]}"
    return ""


def _text(file: Path) -> str:
    """The text of the file; "" where there is none. Raises ValueError where it is no text, too long, or special."""
    try:
        return read_own_bytes(file, most=_MOST_CONFIG).decode()
    except FileNotFoundError:
        return ""


def _names(folder: Path) -> list[str]:
    with suppress(FileNotFoundError):
        return [path.name for path in folder.iterdir()]
    return []
