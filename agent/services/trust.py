"""Trust in a workspace: what it contains, shown before the user trusts it, and links that it may follow."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct, structs

from agent.config.config import IgnoredSetting
from agent.config.powers import workspace_powers
from foundation.clock import SystemClock
from foundation.errors import Misuse, TemporaryFailure
from foundation.files import LockTimeout, resolve_path
from foundation.paths import LINKABLE, LINKABLE_FILES, Workspace, config_dir
from foundation.program import own_command
from foundation.terminal_text import visible, visible_line
from foundation.trusted_content import CHANGED, NEW, ContentDigests, content_digests
from foundation.workspace_trust import TrustRecord, TrustState, trust_key, trust_store
from memory.access import counts, first_entry


class WorkspaceContents(Struct, frozen=True, kw_only=True):
    """A workspace's owner, its stored entries, and its active parts: configuration, hooks and skills."""

    path: str
    owner: str
    entries: int | None  # None: they could not be counted
    conversations: int | None
    config: bool
    hooks: bool
    skills: tuple[str, ...]
    links: tuple[str, ...]  # links that lead out of it: `name → target`
    allowed_tools: tuple[str, ...] = ()  # what skills allow while they are in use: `skill: rule, rule`
    powers: tuple[str, ...] = ()  # what its configuration lets in: `setting: value`

    @property
    def lines(self) -> tuple[str, ...]:
        """The facts, a line each."""
        return (*self._facts, *(f"Link out of it, not followed: {link}" for link in self.links))

    @property
    def short_lines(self) -> tuple[str, ...]:
        """The same for a dialog: links are only named, since each has its own dialog once the workspace is trusted."""
        names = [link.partition(" → ")[0] for link in self.links]
        unfollowed = (
            f"Not followed, because {'it leads' if len(names) == 1 else 'they lead'} out of it: {_listed(names)}."
        )
        return (*self._facts, *([unfollowed] if names else []))

    @property
    def _facts(self) -> tuple[str, ...]:
        acts = [
            *(["its own config.yaml"] if self.config else []),
            *(["hooks"] if self.hooks else []),
            *([_counted(len(self.skills), "file") + " of skills"] if self.skills else []),
        ]
        return (
            self.path,
            f"It belongs to {self.owner}{self._counts}.",
            f"It contains {_listed(acts) or 'no configuration, no hooks and no skills'}.",
            *_power_lines(self.powers),
            *_allowed_lines(self.allowed_tools),
        )

    @property
    def _counts(self) -> str:
        if self.entries is None or self.conversations is None:
            return "; its conversations could not be counted"
        entries = f"{self.entries:,} {'entry' if self.entries == 1 else 'entries'}"
        return f" and holds {_counted(self.conversations, 'conversation')} with {entries}"


def _power_lines(powers: Sequence[str]) -> list[str]:
    """What the configuration lets in, a line each."""
    lines = ["If you trust it, its configuration sets:"] if powers else []
    lines += [f"· {line}" for line in powers[:MAX_POWERS]]
    more = len(powers) - MAX_POWERS
    return [*lines, *([f"· and {more:,} more, in its config.yaml"] if more > 0 else [])]


def _allowed_lines(allowed: Sequence[str]) -> list[str]:
    """What skills allow without asking, a line a skill."""
    if not allowed:
        return []
    lines = ["While in use, its skills allow without confirmation:"]
    lines += [f"· {line}" for line in allowed[:MAX_LISTED]]
    more = len(allowed) - MAX_LISTED
    return [*lines, *([f"· and the same for {_counted(more, 'other skill')}"] if more > 0 else [])]


def _allowed_tools(workspace: Workspace, paths: Collection[str] | None = None) -> tuple[str, ...]:
    """What the skills allow, those at `paths` or all of them, whether or not they are trusted yet."""
    from agent.permissions.skill_rules import skill_rules  # not needed for the first frame
    from context.sources.skills import SkillRegistry

    registry = SkillRegistry(workspace, SystemClock())
    registry.refresh()
    skills = [skill for skill in registry.skills if paths is None or skill.path in paths]
    rules = {skill.name: [rule.text for rule in skill_rules(skill.allowed_tools)[0]] for skill in skills}
    return tuple(f"{name}: {_rules_listed(found)}" for name, found in rules.items() if found)


def _rules_listed(rules: Sequence[str]) -> str:
    more = len(rules) - _MAX_RULES
    shown = [_short(visible_line(rule)) for rule in rules[:_MAX_RULES]]
    return ", ".join([*shown, *([_counted(more, "other rule")] if more > 0 else [])])


_MAX_RULES = 12  # of a skill, in a dialog


def trust_workspace(
    workspace: Workspace, environment: Mapping[str, str], content: ContentDigests | None = None
) -> TrustState:
    """Trusts the workspace with its present content, or with the `content` that was shown, and the scripts of hooks in
    it. Raises Misuse."""
    if not workspace.is_workspace:
        hint = f"`{own_command('init', str(workspace.root))}` makes one."
        raise Misuse("No workspace", f"There is no workspace in {visible(str(workspace.root))}.", hint)
    store = trust_store(environment)
    store.trust(workspace, first_entry(workspace.database), content)
    trust_scripts(workspace.root, environment)
    return structs.replace(store.state(workspace), set_aside=store.set_aside)


def trust_scripts(folder: Path, environment: Mapping[str, str]) -> tuple[str, ...]:
    """Trusts the files of the folder that hooks run, as they are now; gives those that had changed.

    Raises OSError or TemporaryFailure.
    """
    from agent.hooks.scripts import ScriptStore  # not needed for the first frame

    try:
        return ScriptStore(config_dir(environment)).trust(folder)
    except LockTimeout as error:
        raise TemporaryFailure("The scripts of hooks are not trusted", "Another process holds the list.") from error


def trust_instructions(folder: Workspace, environment: Mapping[str, str]) -> tuple[str, ...]:
    """Trusts the instructions for agents of the project in this folder, which need not be a workspace, as they are now;
    gives the paths of those that were not trusted. Raises OSError or TemporaryFailure."""
    from agent.mcp.consent import ConsentStore  # not needed for the first frame
    from agent.project.instructions import ProjectInstructions

    workspace = folder if folder.is_workspace else Workspace(folder.state)
    return ProjectInstructions(folder.root, workspace, ConsentStore(config_dir(environment))).trust()


MAX_POWERS = 12  # lines of what a configuration lets in
MAX_LISTED = 6  # files, and settings, in a dialog


def trust_changes(workspace: Workspace, standing: TrustState, ignored: Sequence[IgnoredSetting]) -> tuple[str, ...]:
    """Changes since the workspace was trusted, a line a file; below config.yaml its settings that need trust, and at
    the end the tools that changed skills allow.

    `ignored` are those settings, with their values. () where nothing needs trust.
    """
    if not ignored and not [name for name in standing.changed if name != "config.yaml"]:
        return ()
    lines: list[str] = []
    for name, change in standing.changes[:MAX_LISTED]:
        lines.append(f"{name} {'is new' if change == NEW else 'changed' if change == CHANGED else 'was removed'}.")
        if name == "config.yaml":
            lines += _settings_of(ignored)
    if (more := len(standing.changes) - MAX_LISTED) > 0:
        lines.append(f"So {'is' if more == 1 else 'are'} {_counted(more, 'other file')}.")
    return (*lines, *_allowed_lines(_allowed_tools(workspace, standing.changed)))


def _settings_of(ignored: Sequence[IgnoredSetting]) -> list[str]:
    if not ignored:
        return ["· It sets nothing that requires trust."]
    lines = [f"· {setting.name}: {_short(setting.value)}" for setting in ignored[:MAX_LISTED]]
    more = len(ignored) - MAX_LISTED
    return [*lines, *([f"· and {_counted(more, 'other setting')}"] if more > 0 else [])]


def _short(value: str) -> str:
    return value if len(value) <= _MAX_VALUE_CHARS else f"{value[:_MAX_VALUE_CHARS]}…"


_MAX_VALUE_CHARS = 400  # characters of a setting's value


def allow_link(workspace: Workspace, environment: Mapping[str, str], link: str) -> Path:
    """Allows a link out of a trusted workspace, by its relative name; gives the target. Raises Misuse."""
    store = trust_store(environment)
    path = workspace.root / link
    link = link.rstrip("/")
    if link not in LINKABLE or not path.is_symlink():
        raise Misuse(
            "No such link", f"{link} is not a link in this workspace.", f"One of {', '.join(LINKABLE)} can be a link."
        )
    if not store.state(workspace).trusted:
        raise Misuse("Not trusted", f"{workspace.root} is not trusted itself.", "Trust the workspace first.")
    if resolve_path(path).is_relative_to(resolve_path(workspace.root)):
        raise Misuse("Not an outside link", f"{link} points inside the workspace.", "It needs no permission.")
    return store.allow(workspace, link)


def links_out(workspace: Workspace) -> dict[str, Path]:
    """Links of the workspace that lead out of it and can be allowed: relative name, resolved target."""
    root = resolve_path(workspace.root)
    links = {name: resolve_path(root / name) for name in LINKABLE if (root / name).is_symlink()}
    return {
        name: target
        for name, target in links.items()
        if not target.is_relative_to(root) and (name in LINKABLE_FILES or target.is_dir())
    }


_FOLLOWED = {
    "MEMORY.md": "If you follow it, the file is read, and written when a note is added.",
    "memory": "If you follow it, notes and archive texts in that folder are read and written.",
    "skills": "If you follow it, the model reads the current skills in that folder.",
    "system.yaml": "If you follow it, that file defines the start of each request.",
}


def link_effect(link: str) -> str:
    """The effect of following a link of that name, in one sentence."""
    return _FOLLOWED.get(link, "If you follow it, that file is part of each request.")


def contents_of(workspace: Workspace) -> WorkspaceContents:
    """The workspace's contents. Only reads."""
    content = content_digests(workspace)
    entries, conversations = counts(workspace.database) or (None, None)
    links = tuple(f"{name} → {target}" for name, target in links_out(workspace).items())
    return WorkspaceContents(
        path=trust_key(workspace),
        owner=_owner(workspace),
        entries=entries,
        conversations=conversations,
        config=bool(content.config),
        hooks=bool(content.hooks),
        skills=tuple(sorted(content.skills)),
        allowed_tools=_allowed_tools(workspace),
        links=links,
        powers=workspace_powers(workspace),
    )


def record_object(record: TrustRecord) -> dict[str, object]:
    """A record as `palimpsest trust --list --json` prints it."""
    return {"path": record.path, "links": record.links, "there": Path(record.path).is_dir()}


def _listed(items: Sequence[str]) -> str:
    return " and ".join([*([", ".join(items[:-1])] if items[:-1] else []), *items[-1:]])


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def _owner(workspace: Workspace) -> str:
    try:
        return workspace.root.owner()
    except (OSError, KeyError, NotImplementedError):  # Windows; a user without a name
        return "somebody"


def contents_object(contents: WorkspaceContents) -> dict[str, object]:
    """The contents as JSON data."""
    return dict(msgspec.to_builtins(contents))
