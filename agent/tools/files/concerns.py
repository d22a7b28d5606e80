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
_ORDINARY_HIDDEN: Final = (".*ignore", ".*keep", ".editorconfig", ".prettierrc*", ".*-version*", ".tool-versions",
    ".nvmrc", ".coveragerc", ".flake8", ".pylintrc", ".rubocop.yml", ".clang-*", ".nojekyll", ".*cache", ".well-known",
)  # fmt: skip
"""Names that begin with a dot and by which no program runs anything: a tool writes these without a question."""
_HOOK_FOLDERS: Final = frozenset({".husky", ".githooks", ".hooks", ".cargo", ".mise", ".lefthook"})
_HOOKS: Final = (".pre-commit-config.y*ml", "lefthook*.y*ml", "lefthook*.toml", "lefthook*.json", ".lefthook*.*",
    ".huskyrc*", "*simple-git-hooks.*", ".overcommit.yml", ".lintstagedrc*", ".envrc", ".direnvrc", "mise.toml",
    "mise.*.toml", ".mise.*toml", "sitecustomize.py", "usercustomize.py", "*.pth", ".mcp.json", ".yarnrc*", ".exrc",
    ".pnpmfile.cjs", ".nvim.lua", ".nvimrc", ".vimrc", ".dir-locals.el", ".gdbinit", ".lldbinit", ".rprofile",
    ".bazelrc", "hgrc", "hgrc-not-shared",
)  # fmt: skip
_CI_FOLDERS: Final = frozenset({".github", ".gitlab", ".circleci", ".buildkite", ".forgejo", ".gitea", ".woodpecker",
    ".tekton", ".semaphore", ".teamcity", ".builds", ".azuredevops", ".harness",
})  # fmt: skip
_CI: Final = (".gitlab-ci*.y*ml", ".travis.y*ml", "jenkinsfile*", "azure-pipelines*.y*ml", "bitbucket-pipelines.y*ml",
    ".drone.y*ml", ".woodpecker*.y*ml", "appveyor.y*ml", ".appveyor.y*ml", ".cirrus.y*ml", ".cirrus.star", ".build.yml",
    "bitrise.yml", "codemagic.yaml", ".vsts-ci.y*ml", "cloudbuild.y*ml", "buildspec.y*ml", "wercker.yml",
)  # fmt: skip
_EDITORS: Final = frozenset({".vscode", ".idea", ".devcontainer", ".zed", ".fleet", ".cursor", ".claude", ".codex",
    ".gemini", ".opencode", ".kiro", ".junie", ".amazonq", ".nova", ".theia", ".trae", ".augment", ".qwen", ".crush",
    ".goose", ".qodo", ".void", ".openhands", ".vibe",
})  # fmt: skip
_EDITOR_FILES: Final = ("*.code-workspace", "*.sublime-project", ".devcontainer.json", "opencode.json*", "crush.json",
    ".aider.conf.y*ml", ".crush.json",
)  # fmt: skip
_SHELL_START: Final = (".bash*", ".zsh*", ".zprofile", ".zlog*", ".profile", ".login", ".logout", ".cshrc", ".tcshrc",
    ".kshrc", ".mkshrc", "config.fish", ".inputrc", ".xprofile", ".xinitrc", ".xsession*", ".tmux.conf", ".screenrc",
    ".emacs", "init.vim", "crontab",
)  # fmt: skip
_INSTRUCTIONS: Final = ("agents.md", "agents.*.md", "agent.md", "claude.md", "claude.*.md", "gemini.md", "qwen.md",
    "skill.md", "copilot-instructions.md", "*.instructions.md", ".cursorrules", ".windsurfrules", ".clinerules*",
    ".roorules*", ".goosehints", ".rules",
)  # fmt: skip
_INSTRUCTION_FOLDERS: Final = frozenset({".clinerules", ".windsurf", ".roo", ".kilocode", ".continue", ".agents"})
_REPOSITORY: Final = (".gitconfig", ".gitmodules", ".gitattributes", ".hgrc")
_RUN_BY_THEMSELVES: Final[tuple[tuple[frozenset[str], tuple[str, ...], str], ...]] = (
    (_CI_FOLDERS, _CI, "belongs to the project's continuous integration"),
    (_EDITORS, _EDITOR_FILES, "is an editor or agent setting, which can run commands"),
    (_HOOK_FOLDERS, _HOOKS, "is run by other programs"),
    (frozenset(), _SHELL_START, "is run when a shell or a program starts"),
    (_INSTRUCTION_FOLDERS, _INSTRUCTIONS, "holds instructions that models obey"),
)
"""What editors, agents, shells and CI run or obey by themselves: folders, patterns of files, and why changing it asks.

A tool asks before it writes these; a command in the sandbox cannot leave a change of them. `.git` is not in the table:
git_folders.py has what git runs.
"""
_GUARDED: Final = ((VERSION_CONTROL, _REPOSITORY, "belongs to version control, which can run programs from it"),
    *_RUN_BY_THEMSELVES,
)  # fmt: skip
_WORKSPACE_FILES: Final = {"agents.md", "soul.md", "system.yaml", "memory.md"}
_WORKSPACE_FOLDERS: Final = {"skills", "memory"}
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
    if concern := known_concern(parts, shown):
        return concern
    hidden = [name for name in map(comparable, parts) if name.startswith(".") and not _matches(name, _ORDINARY_HIDDEN)]
    return f"{shown} is or is in a hidden file or folder, which a program may run or obey." if hidden else ""


def known_concern(parts: tuple[str, ...], shown: str) -> str:
    """The same for files that are known to run by themselves or to hold keys."""
    names = [*map(comparable, parts)] or [""]
    for folders, patterns, why in _GUARDED:
        if not folders.isdisjoint(names) or _matches(names[-1], patterns):
            return f"{shown} {why}."
    return f"{shown} looks like a file of keys or passwords." if is_secret(parts) else ""


@lru_cache(maxsize=65_536)
def runs_by_itself(name: str) -> bool:
    """Whether programs run or obey files of this name, or in a folder of this name, by themselves."""
    name = comparable(name)
    return name in _RUN_FOLDERS or _RUN_FILES.fullmatch(name) is not None


_RUN_FOLDERS: Final = frozenset[str]().union(*(folders for folders, _, _ in _RUN_BY_THEMSELVES))
_RUN_FILES: Final = re.compile(
    "|".join(fnmatch.translate(name) for _, names, _ in _RUN_BY_THEMSELVES for name in names)
)


def is_instruction(parts: tuple[str, ...]) -> bool:
    """Whether a file at this path, relative to a workspace, is one that each request is made of."""
    names = [*map(comparable, parts)]
    return bool(names) and (names[0] in _WORKSPACE_FOLDERS or (len(names) == 1 and names[0] in _WORKSPACE_FILES))


def _matches(name: str, patterns: Iterable[str]) -> bool:
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)
