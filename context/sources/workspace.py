"""Source files of the workspace as last read, with notices about changed and broken files."""

import threading
from collections.abc import Callable
from typing import Protocol

from context.assembly.head import HeadSources
from context.notice import FileNotice
from context.sources.file_state import SourceFile, digest_of, refreshed
from context.sources.project import InstructionsPort
from context.sources.skills import SkillRegistry
from context.sources.system_yaml import DEFAULT, BrokenSystemFile, SystemFile, parse_system_yaml
from foundation.clock import Clock
from foundation.files import make_private_folder, write_atomically
from foundation.files.untrusted import UnreadableFile, read_own_text
from foundation.paths import Workspace
from foundation.privacy import TextSource, clear
from memory.hot import HotFileProblem, Note


class HotMemoryPort(Protocol):
    """The part of hot memory that the context uses."""

    def refresh(self, *, ours: bool = True) -> list[str]: ...
    def notes(self) -> tuple[Note, ...]: ...
    def memory_md(self) -> str: ...
    @property
    def problems(self) -> tuple[HotFileProblem, ...]: ...


class HistoryPort(Protocol):
    """Where versions of the files are kept."""

    def seen(self, name: str, text: str | None) -> None: ...


class WorkspaceSources:
    """Keeps a `HeadSources` up to date; methods may be called from any thread.

    Where system.yaml is broken, the last good one of this or an earlier run stays in force.
    """

    def __init__(
        self,
        workspace: Workspace,
        hot: HotMemoryPort,
        clock: Clock,
        skill_in_force: Callable[[str], bool] = lambda _: True,
        history: HistoryPort | None = None,
    ) -> None:
        self._workspace = workspace
        self._hot = hot
        self._clock = clock
        self._system = SourceFile(workspace.system_yaml)
        self._agents = SourceFile(workspace.agents_md)
        self._soul = SourceFile(workspace.soul_md)
        self._skills = SkillRegistry(workspace, clock, skill_in_force)
        self._file: SystemFile = DEFAULT
        self._good_text = ""  # source of the system.yaml in force; "" for the default
        self._kept_digest = ""  # its digest, once it is saved for later processes
        self._history = history
        self.project: InstructionsPort | None = None  # set by the session
        self._recorded: dict[str, str] = {}  # digest of the version that was handed on, by name
        self._has_read = False
        self._announced: set[str] = set()  # notes of which a notice promised that they go with the next message
        self._problems: tuple[HotFileProblem, ...] = ()
        self._lock = threading.RLock()

    def refresh(self, *, sending: bool = False) -> tuple[FileNotice, ...]:
        """Reads the changed files. A problem is reported once, until it changes.

        `sending`: a message is sent right afterwards, and reports the changes.
        """
        with self._lock:
            return self._refresh_all(sending)

    def _refresh_all(self, sending: bool) -> tuple[FileNotice, ...]:
        notices = [
            *self._refresh_system(),
            *self._skills.refresh(),
        ]
        self._agents, file_notices = self._refresh_file(self._agents)
        notices += file_notices
        self._soul, file_notices = self._refresh_file(self._soul)
        notices += file_notices
        self._record_versions()
        notices += self.project.refresh(sending=sending) if self.project else ()
        changed = self._hot.refresh(ours=False)
        notices += self._hot_problems()
        if self._has_read:
            which = "this" if sending else "your next"
            notices += [
                FileNotice("info", f"{path} changed. The changes are sent with {which} message.", path)
                for path in sorted(set(changed) - self._announced)
            ]
            self._announced = set() if sending else self._announced | set(changed)
        self._has_read = True
        return tuple(notices)

    def now(self) -> HeadSources:
        """The files as last read; reads them on the first call."""
        with self._lock:
            if not self._has_read:
                self.refresh()
            project = tuple(self.project.trusted) if self.project else ()
            return HeadSources(
                project=project,
                unused=tuple(self.project.unused) if self.project else (),
                system=self._file,
                agents=self._agents.text,
                soul=self._soul.text,
                skills=self._skills.skills,
                memory=self._hot.memory_md(),
                notes=self._hot.notes(),
                digests={
                    "system.yaml": digest_of("\n".join(self._file.abilities)),
                    "AGENTS.md": self._agents.digest,
                    "SOUL.md": self._soul.digest,
                    "the project's instructions": digest_of(repr(project)) if project else "",
                },
            )

    def keep_last_good(self) -> None:
        """Saves the current system.yaml for later processes, in case the file is broken by then."""
        with self._lock:
            digest = digest_of(self._good_text)
            if not self._good_text or digest == self._kept_digest or self._workspace.is_read_only:
                return
            make_private_folder(self._workspace.state)
            write_atomically(self._workspace.last_good_system, clear(self._good_text, TextSource.OTHER))
            self._kept_digest = digest

    def _record_versions(self) -> None:
        files = {file.path.name: file for file in (self._system, self._agents, self._soul)} | self._skills.files
        for name in self._recorded.keys() - files.keys():
            files[name] = SourceFile(self._workspace.root / name)
        for name, file in files.items():
            if self._history is None or file.problem or self._recorded.get(name, "") == file.digest:
                continue
            self._recorded[name] = file.digest
            self._history.seen(name, file.raw if file.digest else None)

    def _read(self, previous: SourceFile) -> SourceFile:
        return refreshed(previous, self._clock, self._workspace.bounds_of(previous.path))

    def _refresh_system(self) -> list[FileNotice]:
        before, self._system = self._system, self._read(self._system)
        if (before.digest, before.problem) == (self._system.digest, self._system.problem) and self._has_read:
            return []
        name = self._workspace.system_yaml.name
        if self._system.problem:
            return [self._fall_back(self._system.problem, 0)]
        if not self._system.digest:
            self._file, self._good_text = DEFAULT, ""
            return [FileNotice("info", f"{name} was removed. The default is used.", name)] if self._has_read else []
        try:
            self._file, self._good_text = parse_system_yaml(self._system.text), self._system.text
        except BrokenSystemFile as error:
            return [self._fall_back(error.problem.text, error.problem.line)]
        changed = (
            [FileNotice("info", f"{name} changed. The new version is used from now on.", name)]
            if self._has_read
            else []
        )
        return [
            *changed,
            *(
                FileNotice("error", f"{problem.text}; this rule is ignored.", name, problem.line)
                for problem in self._file.problems
            ),
        ]

    def _fall_back(self, problem: str, line: int) -> FileNotice:
        name = self._workspace.system_yaml.name
        if not self._good_text:
            self._file, self._good_text = _last_good(self._workspace)
        fallback = "the last valid version" if self._good_text else "the default"
        return FileNotice("error", f"{problem}; {fallback} is used until this is fixed.", name, line)

    def _hot_problems(self) -> list[FileNotice]:
        problems, self._problems = self._problems, self._hot.problems
        return [
            FileNotice("warning", problem.text, problem.path) for problem in self._problems if problem not in problems
        ]

    def _refresh_file(self, previous: SourceFile) -> tuple[SourceFile, list[FileNotice]]:
        file = self._read(previous)
        if (file.digest, file.problem) == (previous.digest, previous.problem):
            return file, []
        if file.problem:
            refreshed = SourceFile(
                file.path, previous.text, previous.raw, previous.digest, file.signature, file.problem
            )
            fallback = "the previous version is used" if previous.text else "the file is ignored"
            return refreshed, [FileNotice("warning", f"{file.problem}; {fallback}.", file.path.name)]
        text = f"{file.path.name} {'changed' if file.digest else 'was removed'}. The model will read it all again."
        return file, [FileNotice("info", text, file.path.name)] if self._has_read else []


def _last_good(workspace: Workspace) -> tuple[SystemFile, str]:
    try:
        text = read_own_text(workspace.last_good_system, within=workspace.root)
        return parse_system_yaml(text), text
    except (FileNotFoundError, UnreadableFile, BrokenSystemFile):
        return DEFAULT, ""
