"""The workspace's own files as last read, with notices about what changed or is broken."""

import threading
from collections.abc import Callable
from typing import Protocol

from context.assembly.head import HeadSources
from context.notice import FileNotice
from context.sources.file_state import SourceFile, digest_of, refreshed
from context.sources.skills import SkillRegistry
from context.sources.system_yaml import DEFAULT, BrokenSystemFile, SystemFile, parse_system_yaml
from foundation.clock import Clock
from foundation.files import make_private_folder, write_atomically
from foundation.files.untrusted import UnreadableFile, read_own_text
from foundation.paths import Workspace
from foundation.privacy import TextSource, clear
from memory.hot import HotFileProblem, Note


class HotMemoryPort(Protocol):
    """What the context needs of hot memory."""

    def refresh(self, *, ours: bool = True) -> list[str]: ...
    def notes(self) -> tuple[Note, ...]: ...
    def memory_md(self) -> str: ...
    @property
    def problems(self) -> tuple[HotFileProblem, ...]: ...


class WorkspaceSources:
    """Keeps a `HeadSources` up to date; methods may be called from any thread.

    A broken system.yaml leaves the last good one in force, of this run or an earlier one.
    """

    def __init__(
        self,
        workspace: Workspace,
        hot: HotMemoryPort,
        clock: Clock,
        skill_in_force: Callable[[str], bool] = lambda _: True,
    ) -> None:
        self._workspace = workspace
        self._hot = hot
        self._clock = clock
        self._system = SourceFile(workspace.system_yaml)
        self._agents = SourceFile(workspace.agents_md)
        self._soul = SourceFile(workspace.soul_md)
        self._skills = SkillRegistry(workspace, clock, skill_in_force)
        self._file: SystemFile = DEFAULT
        self._good = ""  # the text that the file in force was read from
        self._kept = ""  # its digest, where it is kept for the next process
        self._looked = False
        self._problems: tuple[HotFileProblem, ...] = ()
        self._lock = threading.RLock()

    def refresh(self, *, sending: bool = False) -> tuple[FileNotice, ...]:
        """Reads the files that changed. A problem is reported once, until it changes. `sending`: a message goes now."""
        with self._lock:
            return self._refreshed_all(sending)

    def _refreshed_all(self, sending: bool) -> tuple[FileNotice, ...]:
        notices = [
            *self._refresh_system(),
            *self._skills.refresh(),
        ]
        self._agents, found = self._refreshed(self._agents)
        notices += found
        self._soul, found = self._refreshed(self._soul)
        notices += found
        changed = self._hot.refresh(ours=False)
        notices += self._hot_problems()
        if self._looked:
            which = "this" if sending else "your next"
            notices += [
                FileNotice("info", f"{path} changed: what is new goes with {which} message.", path)
                for path in sorted(set(changed))
            ]
        self._looked = True
        return tuple(notices)

    def now(self) -> HeadSources:
        """The files as they were last read; reads them where they never were."""
        with self._lock:
            if not self._looked:
                self.refresh()
            return HeadSources(
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
                },
            )

    def keep_last_good(self) -> None:
        """Saves the current system.yaml for later processes, in case the person's own is broken by then."""
        with self._lock:
            digest = digest_of(self._good)
            if not self._good or digest == self._kept or self._workspace.is_read_only:
                return
            make_private_folder(self._workspace.state)
            write_atomically(self._workspace.last_good_system, clear(self._good, TextSource.OTHER))
            self._kept = digest

    def _read(self, known: SourceFile) -> SourceFile:
        return refreshed(known, self._clock, self._workspace.bounds_of(known.path))

    def _refresh_system(self) -> list[FileNotice]:
        before, self._system = self._system, self._read(self._system)
        if (before.digest, before.trouble) == (self._system.digest, self._system.trouble) and self._looked:
            return []
        name = self._workspace.system_yaml.name
        if self._system.trouble:
            return [self._fallen_back(self._system.trouble, 0)]
        if not self._system.digest:
            self._file, self._good = DEFAULT, ""
            return [FileNotice("info", f"{name} is gone. The default holds.", name)] if self._looked else []
        try:
            self._file, self._good = parse_system_yaml(self._system.text), self._system.text
        except BrokenSystemFile as error:
            return [self._fallen_back(error.problem.text, error.problem.line)]
        return [FileNotice("info", f"{name} changed. It holds from now on.", name)] if self._looked else []

    def _fallen_back(self, what: str, line: int) -> FileNotice:
        name = self._workspace.system_yaml.name
        if not self._good:
            self._file, self._good = _last_good(self._workspace)
        held = "the last good one holds" if self._good else "the default holds"
        return FileNotice("error", f"{what}; {held} until it is mended.", name, line)

    def _hot_problems(self) -> list[FileNotice]:
        problems, self._problems = self._problems, self._hot.problems
        return [
            FileNotice("warning", problem.text, problem.path) for problem in self._problems if problem not in problems
        ]

    def _refreshed(self, known: SourceFile) -> tuple[SourceFile, list[FileNotice]]:
        file = self._read(known)
        if (file.digest, file.trouble) == (known.digest, known.trouble):
            return file, []
        if file.trouble:
            kept = SourceFile(file.path, known.text, known.digest, file.signature, file.trouble)
            held = "what was read before holds" if known.text else "it is left out"
            return kept, [FileNotice("warning", f"{file.trouble}; {held}.", file.path.name)]
        said = (
            f"{file.path.name} {'changed' if file.digest else 'is gone'}. The model will read the whole context anew."
        )
        return file, [FileNotice("info", said, file.path.name)] if self._looked else []


def _last_good(workspace: Workspace) -> tuple[SystemFile, str]:
    try:
        text = read_own_text(workspace.last_good_system, within=workspace.root)
        return parse_system_yaml(text), text
    except (FileNotFoundError, UnreadableFile, BrokenSystemFile):
        return DEFAULT, ""
