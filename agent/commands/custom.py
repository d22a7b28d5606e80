"""Custom commands: Markdown files whose text is sent as a message, `$ARGUMENTS` replaced by what follows the name.

Those of the workspace are in `commands/`, those of a project in `.palimpsest/commands/` and `.claude/commands/`. A file
in a folder is named with it: `git/pr.md` is `/git:pr`. Front matter may have `description` and `argument-hint`. The
files of a project are read once the user has trusted their contents with `/commands trust`.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

from msgspec import Struct

from agent.commands.command import Command
from agent.commands.results import Outcome, SendMessage, TextResult
from foundation.errors import Misuse
from foundation.files import scan
from foundation.files.untrusted import UnreadableFile, read_own_text
from foundation.paths import config_dir
from foundation.terminal_text import visible_line
from foundation.yaml import BadYaml, load_yaml

if TYPE_CHECKING:  # a session loads every room; the list of commands must not
    from agent.mcp.consent import ConsentStore
    from agent.session import Session

ARGUMENTS: Final = "$ARGUMENTS"
MAX_FILES: Final = 200
MAX_BYTES: Final = 100_000
MAX_DEPTH: Final = 2  # folders below commands/
MAX_SUMMARY: Final = 100  # characters
_PROJECT_FOLDERS: Final = (".palimpsest/commands", ".claude/commands")
_NAME: Final = re.compile(r"[^\W_][\w-]*")
_FRONT: Final = re.compile(r"---[ \t]*\n(?P<front>.*?)^---[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)


class ProjectCommands(Struct, frozen=True):
    """The command files of a project as one item to trust: their names and texts, and the digest of all."""

    folder: str
    files: dict[str, str]
    name: str = "commands"

    @property
    def digest(self) -> str:
        return hashlib.sha256(repr(sorted(self.files.items())).encode()).hexdigest()

    @property
    def paths(self) -> str:
        return ", ".join(f"`{visible_line(path)}`" for path in self.files)


def custom_commands(session: Session) -> tuple[Command, ...]:
    """The commands of the workspace, then those of the project if they are trusted. Blocks."""
    workspace, project = session.workspace, project_commands(session)
    files = {} if workspace.is_read_only else _files(workspace.root, "commands")
    if project.files and _consents(session).answer(project):
        files = project.files | files
    commands = [_command(path, text) for path, text in files.items()]
    return tuple({command.name: command for command in commands}.values())


def project_commands(session: Session) -> ProjectCommands:
    """The command files of the project, trusted or not. Blocks."""
    root = session.project.root
    found = [_files(root, folder) for folder in _PROJECT_FOLDERS] if root != session.workspace.root else []
    return ProjectCommands(str(root), {path: text for files in reversed(found) for path, text in files.items()})


def _consents(session: Session) -> ConsentStore:
    from agent.mcp.consent import ConsentStore

    return ConsentStore(config_dir(session.config.environment))


def _command(path: str, text: str) -> Command:
    """The command of one file. A damaged front matter counts as text."""
    front, body = _FRONT.match(text), text
    fields = dict[str, str]()
    if front is not None:
        try:
            read = load_yaml(front["front"])
        except BadYaml:
            read = None
        if isinstance(read, dict):
            fields = {
                str(name): str(value)
                for name, value in cast("dict[object, object]", read).items()
                if isinstance(value, str | int)
            }
            body = text[front.end() :]
    body = body.strip()
    first = next((line.strip("# ") for line in body.splitlines() if line.strip("# ")), "")
    summary = visible_line(" ".join((fields.get("description") or first).split()))[:MAX_SUMMARY] or f"Send {path}."

    async def run(_session: Session, arguments: str) -> Outcome:
        if not body:
            raise Misuse("Empty command", f"{path} has no text.", "Write the message into it.")
        sent = body.replace(ARGUMENTS, arguments) if ARGUMENTS in body else f"{body}\n\n{arguments}".strip()
        return SendMessage(sent)

    name = _name(path)
    usage = visible_line(fields.get("argument-hint", "[TEXT]" if ARGUMENTS in body else ""))
    return Command(name=name, summary=summary, usage=usage, run=run)


def _name(path: str) -> str:
    return path.partition("commands/")[2].removesuffix(".md").replace("/", ":").lower()


def untrusted_command(session: Session, name: str) -> str:
    """The file of the project that would be this command once it is trusted; "" for none. Blocks."""
    return next((path for path in project_commands(session).files if _name(path) == name), "")


def _files(root: Path, folder: str) -> dict[str, str]:
    """The texts of the Markdown files, by their path below `root`. Links are not followed."""
    texts = dict[str, str]()
    for path in _paths(root / folder, MAX_DEPTH):
        try:
            texts[path.relative_to(root).as_posix()] = read_own_text(path, within=root, most=MAX_BYTES)
        except (FileNotFoundError, UnreadableFile):
            continue
        if len(texts) == MAX_FILES:
            break
    return texts


def _paths(folder: Path, depth: int) -> Iterator[Path]:
    try:
        entries = scan(folder)
    except OSError:
        return
    for path, status in entries:
        if stat.S_ISDIR(status.st_mode) and depth and _NAME.fullmatch(path.name):
            yield from _paths(path, depth - 1)
        elif stat.S_ISREG(status.st_mode) and path.suffix == ".md" and _NAME.fullmatch(path.stem):
            yield path


async def _commands(session: Session, rest: str) -> Outcome:
    project = await asyncio.to_thread(project_commands, session)
    if rest not in ("", "trust"):
        raise Misuse("Not understood", f"/commands {visible_line(rest)}", "There are /commands and /commands trust.")
    if rest and not project.files:
        return TextResult(f"There are no commands in `{visible_line(project.folder)}`.")
    if rest:
        await asyncio.to_thread(_consents(session).record, project, allowed=True)
        return TextResult(f"Trusted as they are now: {project.paths}.")
    commands = await asyncio.to_thread(custom_commands, session)
    lines = [f"- `{command.signature}` — {command.summary}" for command in commands]
    if project.files and not await asyncio.to_thread(_consents(session).answer, project):
        lines.append(f"\nNot trusted, or changed since: {project.paths}. `/commands trust` adds them.")
    folders = ", ".join(f"`{folder}/`" for folder in ("commands", *_PROJECT_FOLDERS))
    return TextResult("\n".join(lines) or f"There are no commands of your own: Markdown files in {folders}.")


COMMANDS = (
    Command(
        name="commands",
        summary="List your own commands, or trust those of the project.",
        usage="[trust]",
        beside_turns=True,
        run=_commands,
    ),
)
