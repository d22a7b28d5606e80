"""Trusting a workspace: what it brings, told before a person says that they trust it."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct, structs

from agent.config.config import IgnoredSetting
from foundation.errors import Misuse
from foundation.files import real
from foundation.paths import LINKABLE, LINKABLE_FILES, Workspace
from foundation.program import own_command
from foundation.terminal_text import visible
from foundation.trusted_content import CHANGED, NEW, ContentDigests, content_of
from foundation.workspace_trust import TrustRecord, TrustState, key_of, trust_store
from memory.access import counts, first_entry


class WorkspaceContents(Struct, frozen=True, kw_only=True):
    """What a workspace brings: whose it is, what is stored in it, and what in it acts."""

    path: str
    owner: str
    entries: int
    conversations: int
    config: bool
    hooks: bool
    skills: tuple[str, ...]
    links: tuple[str, ...]  # links that lead out of it: `name → target`

    @property
    def lines(self) -> tuple[str, ...]:
        """For a person, a line a fact."""
        return (*self._facts, *(f"Link out of it, not followed: {link}" for link in self.links))

    @property
    def short_lines(self) -> tuple[str, ...]:
        """The same for a screen: each link is asked about by itself, once the workspace is trusted."""
        names = [link.partition(" → ")[0] for link in self.links]
        out = f"Not followed, for {'it leads' if len(names) == 1 else 'they lead'} out of it: {_listed(names)}."
        return (*self._facts, *([out] if names else []))

    @property
    def _facts(self) -> tuple[str, ...]:
        acts = [
            *(["its own config.yaml"] if self.config else []),
            *(["hooks"] if self.hooks else []),
            *([_counted(len(self.skills), "file") + " of skills"] if self.skills else []),
        ]
        return (
            self.path,
            f"It belongs to {self.owner} and holds {_counted(self.conversations, 'conversation')} with "
            f"{self.entries:,} {'entry' if self.entries == 1 else 'entries'}.",
            f"It brings {_listed(acts) or 'no configuration, no hooks and no skills'}.",
        )


def trust_workspace(
    workspace: Workspace, environment: Mapping[str, str], content: ContentDigests | None = None
) -> TrustState:
    """Trusts the workspace as it stands, or as it was shown with `content`. Raises Misuse where there is none."""
    if not workspace.is_workspace:
        hint = f"`{own_command('init', str(workspace.root))}` makes one."
        raise Misuse("No workspace", f"There is no workspace in {visible(str(workspace.root))}.", hint)
    store = trust_store(environment)
    store.trust(workspace, first_entry(workspace.database), content)
    return structs.replace(store.standing(workspace), set_aside=store.set_aside)


MOST_NAMED = 6  # files, and settings, of a question


def what_changed(standing: TrustState, ignored: Sequence[IgnoredSetting]) -> tuple[str, ...]:
    """What is not as it was trusted, a line a file; of config.yaml the settings that wait for trust, with their values.

    `ignored` are those settings. () where nothing waits for trust.
    """
    if not ignored and not [name for name in standing.changed if name != "config.yaml"]:
        return ()
    lines: list[str] = []
    for name, how in standing.changes[:MOST_NAMED]:
        lines.append(f"{name} {'is new' if how == NEW else 'changed' if how == CHANGED else 'was removed'}.")
        if name == "config.yaml":
            lines += _settings_of(ignored)
    if (more := len(standing.changes) - MOST_NAMED) > 0:
        lines.append(f"So {'is' if more == 1 else 'are'} {_counted(more, 'other file')}.")
    return tuple(lines)


def _settings_of(ignored: Sequence[IgnoredSetting]) -> list[str]:
    if not ignored:
        return ["· It sets nothing that needs trust."]
    lines = [f"· {one.name}: {_short(one.words)}" for one in ignored[:MOST_NAMED]]
    more = len(ignored) - MOST_NAMED
    return [*lines, *([f"· and {_counted(more, 'other setting')}"] if more > 0 else [])]


def _short(words: str) -> str:
    return words if len(words) <= _LONGEST else f"{words[:_LONGEST]}…"


_LONGEST = 120  # characters of a setting's value


def allow_link(workspace: Workspace, environment: Mapping[str, str], link: str) -> Path:
    """Allows a link out of a trusted workspace, by its relative name; gives where it leads. Raises Misuse."""
    store = trust_store(environment)
    path = workspace.root / link
    link = link.rstrip("/")
    if link not in LINKABLE or not path.is_symlink():
        raise Misuse(
            "No such link", f"{link} is no link of this workspace.", f"One of {', '.join(LINKABLE)} can be a link."
        )
    if not store.standing(workspace).trusted:
        raise Misuse("Not trusted", f"{workspace.root} is not trusted itself.", "Trust the workspace first.")
    if real(path).is_relative_to(real(workspace.root)):
        raise Misuse(
            "It leads nowhere else", f"{link} leads to a place within the workspace.", "It is followed as it is."
        )
    return store.allow(workspace, link)


def links_out(workspace: Workspace) -> dict[str, Path]:
    """Links of the workspace that lead out of it and can be allowed: relative name, resolved target."""
    root = real(workspace.root)
    found = {name: real(root / name) for name in LINKABLE if (root / name).is_symlink()}
    return {
        name: target
        for name, target in found.items()
        if not target.is_relative_to(root) and (name in LINKABLE_FILES or target.is_dir())
    }


_FOLLOWED = {
    "MEMORY.md": "Followed, that file is read, and written when something is remembered.",
    "memory": "Followed, the notes in that folder are read and written, and texts of archives are kept there.",
    "skills": "Followed, the model reads the skills in that folder, as they are now.",
    "system.yaml": "Followed, that file says what each request begins with.",
}


def following(link: str) -> str:
    """What it means to follow a link of that name, in one sentence."""
    return _FOLLOWED.get(link, "Followed, that file is read into each request.")


def brought_by(workspace: Workspace) -> WorkspaceContents:
    """What the workspace brings. Reads alone."""
    content = content_of(workspace)
    entries, conversations = counts(workspace.database)
    links = tuple(f"{name} → {target}" for name, target in links_out(workspace).items())
    return WorkspaceContents(
        path=key_of(workspace),
        owner=_owner(workspace),
        entries=entries,
        conversations=conversations,
        config=bool(content.config),
        hooks=bool(content.hooks),
        skills=tuple(sorted(content.skills)),
        links=links,
    )


def described(record: TrustRecord) -> dict[str, object]:
    """A record as `palimpsest trust --list --json` shows it."""
    return {"path": record.path, "links": record.links, "there": Path(record.path).is_dir()}


def _listed(words: Sequence[str]) -> str:
    return " and ".join([*([", ".join(words[:-1])] if words[:-1] else []), *words[-1:]])


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def _owner(workspace: Workspace) -> str:
    try:
        return workspace.root.owner()
    except (OSError, KeyError, NotImplementedError):  # Windows; a user without a name
        return "somebody"


def as_json(brought: WorkspaceContents) -> dict[str, object]:
    """What a workspace brings, as data."""
    return dict(msgspec.to_builtins(brought))
