"""Reads git's settings: which of them git makes by itself, and which files the others name.

More is read than git reads: conditions of `includeIf` are taken as true, and each word of a value may be a path.
"""

import os
import re
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

from foundation.files.untrusted import UnreadableFile, read_own_bytes

MAX_CONFIG_BYTES: Final = 200_000
_MAX_INCLUDED: Final = 50
_SECTION: Final = re.compile(r"""\[\s*([\w.-]+)(?:\s+"((?:[^"\\]|\\.)*)")?\s*\]\s*""")
_SETTING: Final = re.compile(r"([A-Za-z][\w-]*)\s*(?:=\s*(.*))?\Z")
_COMMENT: Final = re.compile(r"\s[#;].*")
_BREAKS: Final = re.compile(r"""[\s;&|()<>"'`=!]+""")
HARMLESS: Final = frozenset(
    {
        *("core.repositoryformatversion", "core.filemode", "core.bare", "core.logallrefupdates", "core.symlinks"),
        *("core.ignorecase", "core.precomposeunicode", "core.autocrlf", "core.eol", "core.safecrlf", "core.longpaths"),
        *("extensions.objectformat", "extensions.compatobjectformat", "extensions.refstorage"),
        *("extensions.partialclone", "extensions.worktreeconfig", "remote.fetch", "remote.tagopt"),
        *("remote.promisor", "remote.partialclonefilter", "remote.mirror", "branch.remote", "branch.merge"),
        *("branch.rebase", "branch.pushremote", "branch.description", "user.name", "user.email", "init.defaultbranch"),
        *("submodule.active", "submodule.branch", "pull.rebase", "pull.ff", "commit.gpgsign"),
        *("push.default", "push.autosetupremote", "gc.auto", "gc.autodetach", "advice.detachedhead"),
    }
)
_TEXTS: Final = frozenset({"core.excludesfile", "commit.template", "blame.ignorerevsfile", "mailmap.file"})
ADDRESSES: Final = frozenset({"remote.url", "remote.pushurl", "submodule.url"})


class GitSetting(NamedTuple):
    """One setting. `key` is in lower case, without the subsection `name`; "" where the line cannot be read."""

    key: str
    name: str
    value: str

    @property
    def shown(self) -> str:
        section, _, last = self.key.rpartition(".")
        return f"{section}.{self.name}.{last}" if self.name else self.key


def settings_in(text: str) -> Iterator[GitSetting]:
    """The settings of a configuration, in order."""
    section = name = ""
    for written in text.splitlines():
        line = written.strip()
        if match := _SECTION.match(line):
            section, name = match[1].casefold(), match[2] or ""
            line = line[match.end() :]
        if not line or line[0] in "#;":
            continue
        setting = _SETTING.match(line)
        if setting is None or written.endswith("\\"):
            yield GitSetting("", name, line)
        else:
            yield GitSetting(f"{section}.{setting[1].casefold()}", name, setting[2] or "")


class NamedPaths(NamedTuple):
    """What settings name: further settings, folders of hooks, and files that may be programs."""

    settings: set[Path]
    hooks: set[Path]
    programs: set[Path]


def named_paths(configs: Iterable[Path], folders: Collection[Path], home: Path) -> NamedPaths:
    """What the configurations, and those that they include, name. Relative paths start in each of the folders."""
    found = NamedPaths(set(), set(), set())
    pending, seen = [*configs], set[Path]()
    while pending and len(seen) < _MAX_INCLUDED + len(folders) * 3:
        config = Path(os.path.realpath(pending.pop()))
        if config in seen:
            continue
        seen.add(config)
        for setting in settings_in(_text(config).replace("\\\n", "")):
            whole = _COMMENT.sub("", setting.value).strip(' "')
            if setting.key in {"include.path", "includeif.path"}:
                included = set(_resolved([whole], [config.parent], home))
                found.settings.update(included)
                pending.extend(included)
            elif setting.key == "core.hookspath":
                found.hooks.update(_resolved([whole], folders, home))
            elif setting.key not in HARMLESS | ADDRESSES | _TEXTS:
                found.programs.update(_resolved(_BREAKS.split(setting.value), folders, home))
    return found


def _resolved(names: Iterable[str], folders: Iterable[Path], home: Path) -> Iterator[Path]:
    folders = [*folders]
    for name in names:
        if not name or "\0" in name or name.startswith("-"):
            continue
        text = f"{home}{name[1:]}" if name.startswith("~/") else name
        yield from {Path(os.path.realpath(folder / text)) for folder in folders}


def _text(config: Path) -> str:
    try:
        return read_own_bytes(config, most=MAX_CONFIG_BYTES).decode("utf-8", "replace")
    except (OSError, ValueError, UnreadableFile):
        return ""
