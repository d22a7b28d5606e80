"""Why reading or changing a file asks first, by its name.

Names are compared as the most lenient file system would: in any case, in any Unicode form, without characters that are
not seen, without the dots and blanks that Windows drops at the end.
"""

import fnmatch
import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

STATE: Final = ".palimpsest"
VERSION_CONTROL: Final = frozenset({".git", ".hg", ".svn", ".jj", ".bzr"})

_SECRETS: Final = (
    ".env", ".env.*", "*.pem", "*.key", "*.p12", "*.pfx", "id_rsa*", "id_ed25519*", "id_ecdsa*", ".netrc", ".pgpass",
    ".npmrc", ".pypirc", "credentials", "credentials.json", ".git-credentials", "*.kdbx",
)  # fmt: skip
_SECRET_FOLDERS: Final = {".ssh", ".aws", ".gnupg", ".kube", ".docker", ".azure"}
_NO_SECRETS: Final = (".example", ".sample", ".template", ".pub")
_REPOSITORY: Final = (".gitconfig", ".gitmodules", ".gitattributes", ".hgrc")
_HOOK_FOLDERS: Final = frozenset({".husky", ".githooks", ".hooks"})
_HOOKS: Final = (".pre-commit-config.y*ml", "lefthook.y*ml", ".lefthook*.y*ml", ".envrc", "sitecustomize.py",
    "usercustomize.py", "*.pth", ".mcp.json", ".yarnrc*", ".pnpmfile.cjs", ".exrc", ".nvim.lua", ".nvimrc",
    ".dir-locals.el", "*.code-workspace",
)  # fmt: skip
_CI_FOLDERS: Final = frozenset({".github", ".gitlab", ".circleci", ".buildkite", ".forgejo", ".gitea", ".woodpecker"})
_CI: Final = (".gitlab-ci*.yml", ".travis.yml", "jenkinsfile*", "azure-pipelines*.yml", "bitbucket-pipelines.yml",
    ".drone.y*ml", ".woodpecker*.y*ml", "appveyor.yml", ".appveyor.yml", ".cirrus.y*ml",
)  # fmt: skip
_EDITORS: Final = frozenset(
    {".vscode", ".idea", ".devcontainer", ".zed", ".fleet", ".cursor", ".claude", ".codex", ".gemini"}
)
_SHELL_START: Final = (".bash*", ".zsh*", ".zprofile", ".zlog*", ".profile", ".login", ".logout", ".cshrc", ".tcshrc",
    ".kshrc", ".mkshrc", "config.fish", ".inputrc", ".xprofile", ".xinitrc", ".xsession*", ".tmux.conf", ".screenrc",
    ".vimrc", ".emacs", "init.vim", "crontab",
)  # fmt: skip
_INSTRUCTIONS: Final = ("agents.md", "agents.*.md", "agent.md", "claude.md", "claude.*.md", "gemini.md", "qwen.md",
    "skill.md", "copilot-instructions.md", "*.instructions.md", ".cursorrules", ".windsurfrules", ".clinerules*",
    ".roorules*", ".goosehints", ".rules",
)  # fmt: skip
_INSTRUCTION_FOLDERS: Final = frozenset({".clinerules", ".windsurf", ".roo", ".kilocode", ".continue", ".agents"})
_WORKSPACE_FILES: Final = {"agents.md", "soul.md", "system.yaml", "memory.md"}
_WORKSPACE_FOLDERS: Final = {"skills", "memory"}
_GUARDED: Final[tuple[tuple[frozenset[str], tuple[str, ...], str], ...]] = (
    (VERSION_CONTROL, _REPOSITORY, "belongs to version control, which can run programs from it"),
    (_CI_FOLDERS, _CI, "belongs to the project's continuous integration"),
    (_EDITORS, (), "is an editor or agent setting, which can run commands"),
    (_HOOK_FOLDERS, _HOOKS, "is run by other programs"),
    (frozenset(), _SHELL_START, "is run when a shell or a program starts"),
    (_INSTRUCTION_FOLDERS, _INSTRUCTIONS, "holds instructions that models obey"),
)
_SHORT_NAMES: Final = re.compile(r"(git|hg|palimp|github|vscode)~\d+")  # as FAT and NTFS shorten `.git`


@lru_cache(maxsize=65_536)
def comparable(name: str) -> str:
    """The name in the form in which the names here are written."""
    seen = "".join(letter for letter in name if unicodedata.category(letter) not in {"Cf", "Cc", "Mn"})
    folded = unicodedata.normalize("NFKC", seen).casefold().partition(":")[0].rstrip(". ")
    short = _SHORT_NAMES.fullmatch(folded)
    return {"palimp": STATE}.get(short[1], f".{short[1]}") if short else folded


def is_state(name: str) -> bool:
    """Whether a component of this name is the program's own state."""
    return comparable(name) == STATE


def is_secret(parts: Iterable[str]) -> bool:
    """Whether a file at this path usually holds keys or passwords."""
    *folders, name = map(comparable, parts)
    if name.endswith(_NO_SECRETS):
        return False
    return not _SECRET_FOLDERS.isdisjoint(folders) or _matches(name, _SECRETS)


def changing_concern(parts: tuple[str, ...], shown: str) -> str:
    """Why changing the file asks whatever the rules; "" where nothing about its path does."""
    names = [*map(comparable, parts)] or [""]
    for folders, patterns, why in _GUARDED:
        if not folders.isdisjoint(names) or _matches(names[-1], patterns):
            return f"{shown} {why}."
    return f"{shown} looks like a file of keys or passwords." if is_secret(parts) else ""


def is_instruction(parts: tuple[str, ...]) -> bool:
    """Whether a file at this path, relative to a workspace, is one that each request is made of."""
    names = [*map(comparable, parts)]
    return bool(names) and (names[0] in _WORKSPACE_FOLDERS or (len(names) == 1 and names[0] in _WORKSPACE_FILES))


def _matches(name: str, patterns: Iterable[str]) -> bool:
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)
