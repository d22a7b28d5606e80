"""Instructions of a project for agents: AGENTS.md and the like, from its root down to the folder where the user is.

A file is sent once the user has trusted its content. The answers are stored with those about the project's MCP servers
(agent.mcp.consent). A file that changes stays in force as it was until the user answers for the new content.
"""

import hashlib
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct

from agent.mcp.consent import ConsentStore
from agent.tools.files.concerns import VERSION_CONTROL, is_secret
from agent.tools.offer import is_project
from context.notice import FileNotice
from context.sources.project import InstructionText, UnusedInstructions
from context.sources.sent_text import sent_text
from foundation.figures import counted
from foundation.files.untrusted import UnreadableFile, read_own_text
from foundation.paths import Workspace, expand_home, home_shortened
from foundation.program import own_command

NAMES: Final = ("AGENTS.md", "CLAUDE.md", "GEMINI.md", ".cursorrules")
"""Of each folder, the first of these that can be read."""
MAX_BYTES: Final = 500_000
MAX_IMPORTS: Final = 30
MAX_SHOWN_LINES: Final = 20  # of a file, in the question on trust
MAX_SHOWN_CHARS: Final = 400  # of a line there
_IMPORTING: Final = {"CLAUDE.md", "GEMINI.md"}
_CODE: Final = re.compile(r"^ {0,3}(```|~~~).*?(?:^ {0,3}\1|\Z)|`[^`\n]*`", re.MULTILINE | re.DOTALL)
_DECLINED: Final = "is not read: you chose not to trust it; `/trust yes` trusts it"
_IMPORT: Final = re.compile(r"(?<!\S)@(?:import\s+)?([^\s@,;:!?()]+)")


class InstructionFile(Struct, frozen=True):
    """A file as read. `folder` is the project's root, `name` the path relative to it."""

    folder: str
    name: str
    text: str
    digest: str

    @property
    def shown(self) -> str:
        return home_shortened(Path(self.folder, self.name))

    @property
    def facts(self) -> tuple[str, ...]:
        """The path, the size and the first lines of the text, for the question on trust."""
        lines = self.text.splitlines()
        shown = [f"  {line[:MAX_SHOWN_CHARS]}{'…' if len(line) > MAX_SHOWN_CHARS else ''}" for line in lines]
        more = len(lines) - MAX_SHOWN_LINES
        rest = [f"  … and {counted(more, 'more line')}"] if more > 0 else []
        return (f"{self.shown}, {counted(len(lines), 'line')}:", *shown[:MAX_SHOWN_LINES], *rest)


class ProjectInstructions:
    """The instruction files of the project, and which of them the user trusts."""

    def __init__(self, folder: Path, workspace: Workspace, consents: ConsentStore) -> None:
        """`folder` is where the user is, without links. The workspace's own AGENTS.md is no file of the project."""
        self.root = project_root(folder)
        self.is_project = self.root != folder or is_project(folder, workspace.root)
        self._folder = folder
        self._own = os.path.realpath(workspace.agents_md)
        self._consents = consents
        self._files: tuple[InstructionFile, ...] = ()  # in force
        self._told: set[tuple[str, str]] = set()
        self.unanswered: tuple[InstructionFile, ...] = ()
        self.unused: tuple[UnusedInstructions, ...] = ()

    @property
    def trusted(self) -> tuple[InstructionText, ...]:
        """The texts in force, the nearest to the user's folder last."""
        return tuple(InstructionText(file.shown, file.text) for file in self._files)

    def refresh(self, *, sending: bool = False) -> list[FileNotice]:
        """Reads the files. With `sending` it returns a notice for each file that is not used, once, unless the user
        declined it."""
        found, unused = self._read() if self.is_project else ([], [])
        before = {file.name: file for file in self._files}
        trusted, unanswered = list[InstructionFile](), list[InstructionFile]()
        for file in found:
            answer = self._consents.answer(file)
            if answer:
                trusted.append(file)
                continue
            unused.append(UnusedInstructions(file.shown, self._reason(file, answer)))
            if answer is None:
                unanswered.append(file)
                trusted += [before[file.name]] if file.name in before else []
        self._files, self.unanswered, self.unused = tuple(trusted), tuple(unanswered), tuple(unused)
        known = self._told | {(each.path, each.why) for each in unused if each.why == _DECLINED}
        news = [(each.path, each.why) for each in unused if (each.path, each.why) not in known] if sending else []
        self._told.update(news)
        return [FileNotice("warning", f"it {why}.", path) for path, why in news]

    def answer(self, files: Sequence[InstructionFile], *, allowed: bool) -> None:
        """Stores the user's answer for these contents. Raises OSError or TemporaryFailure."""
        for file in files:
            self._consents.record(file, allowed=allowed)
        self.refresh()

    def existing(self) -> Path | None:
        """The instruction file of the project's root that is there, whether or not it can be read."""
        paths = (self.root / name for name in NAMES)
        return next((path for path in paths if os.path.lexists(path)), None)

    def untrusted(self) -> tuple[InstructionFile, ...]:
        """The project's files as they are now, if they are not trusted."""
        files = self._read()[0] if self.is_project else []
        return tuple(file for file in files if not self._consents.answer(file))

    def trust(self) -> tuple[str, ...]:
        """Trusts all files as they are now; gives the paths of those that were not trusted."""
        files = self.untrusted()
        self.answer(files, allowed=True)
        return tuple(file.shown for file in files)

    @property
    def is_changed(self) -> bool:
        """Whether other contents of a file that waits for an answer were trusted."""
        return any(self._consents.is_changed(file) for file in self.unanswered)

    def _reason(self, file: InstructionFile, answer: bool | None) -> str:
        if answer is False:
            return _DECLINED
        state = "changed since you trusted it, and the change is" if self._consents.is_changed(file) else "is"
        command = own_command("trust", str(self._folder))
        return f"{state} not read until you trust it: `/trust yes`, or `{command}` outside the chat"

    def _read(self) -> tuple[list[InstructionFile], list[UnusedInstructions]]:
        files, unused = dict[str, InstructionFile](), list[UnusedInstructions]()
        below = self._folder.relative_to(self.root).parts
        for depth in range(len(below) + 1):
            for path in (self.root.joinpath(*below[:depth], name) for name in NAMES):
                if os.path.realpath(path) == self._own:
                    break
                if file := self._read_file(path, unused):
                    imported = self._imports(file, unused) if path.name in _IMPORTING else ()
                    files |= {each.name: each for each in (*imported, file) if each.name not in files}
                    break
        texts = {name: sent_text(file.text) for name, file in files.items()}
        empty = [file for name, file in files.items() if file.text.strip() and not texts[name]]
        unused += [
            UnusedInstructions(file.shown, "has no text below its headings, so it is not sent") for file in empty
        ]
        return [file for name, file in files.items() if texts[name]], unused

    def _read_file(self, path: Path, unused: list[UnusedInstructions]) -> InstructionFile | None:
        target = Path(os.path.realpath(path))
        try:
            if not target.is_relative_to(self.root):
                why = "leads out of the project and is not read"
            elif is_secret(target.parts):
                why = "looks like a file of keys or passwords and is not read"
            else:
                text = read_own_text(path, within=self.root, most=MAX_BYTES)
                name = path.relative_to(self.root).as_posix()
                return InstructionFile(str(self.root), name, text, hashlib.sha256(text.encode()).hexdigest())
        except FileNotFoundError:
            return None
        except UnreadableFile as error:
            why = f"is not read: {error}"
        unused.append(UnusedInstructions(home_shortened(path), why))
        return None

    def _imports(self, file: InstructionFile, unused: list[UnusedInstructions]) -> Iterator[InstructionFile]:
        """The files that the text imports with `@path`, outside code."""
        text, folder = _CODE.sub("", file.text), Path(file.folder, file.name).parent
        for name in dict.fromkeys(match[1].rstrip(".") for match in _IMPORT.finditer(text)):
            path = Path(os.path.normpath(folder / expand_home(name)))
            if path.is_file():
                if imported := self._read_file(path, unused):
                    yield imported
            elif any(line.strip("-* \t") in (f"@{name}", f"@import {name}") for line in text.splitlines()):
                why = f"is not read: {file.name} imports it, and there is no such file"
                unused.append(UnusedInstructions(home_shortened(path), why))


def project_root(folder: Path) -> Path:
    """The repository that `folder` is in, if it is below the home folder or outside of it; else `folder`. A folder that
    cannot be read is in none."""
    home = Path(os.path.realpath(Path.home()))
    places = (place for place in (folder, *folder.parents) if not home.is_relative_to(place))
    return next((place for place in places if any(os.path.lexists(place / name) for name in VERSION_CONTROL)), folder)
