"""One run of the command line: its global options, and the workspace, memory and session for the commands."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any

import click

from agent.cli import output
from agent.cli.launch import LaunchOptions
from foundation.errors import Misuse, PalimpsestError
from foundation.program import PROGRAM, own_command

if TYPE_CHECKING:  # loaded by the commands that use them
    from agent.config.config import LoadedConfig
    from agent.session import Session
    from foundation.paths import Workspace
    from memory.access import WorkspaceAccess
    from memory.memory import Memory
    from memory.sync.renewal import LocationAccess

OpenScreen = Callable[[LaunchOptions], int | None]


class NoWorkspace(PalimpsestError):
    """There is no workspace at that path."""

    code = "no_workspace"


@dataclass(kw_only=True)
class HeadlessFlags:
    """The flags that belong to `-p`, as they were typed."""

    output_format: str | None = None
    input_format: str | None = None
    knowledge: bool = False
    mode: str | None = None
    rules: list[tuple[str, str]] = field(default_factory=list["tuple[str, str]"])  # verdict, rule
    calls: int | None = None
    tokens: int | None = None
    seconds: float | None = None
    cost: float | None = None
    over_cap: bool = False

    @property
    def given(self) -> str:
        """One of the flags that were given; "" for none."""
        flags = {
            "--output-format": self.output_format,
            "--input-format": self.input_format,
            "--knowledge": self.knowledge or None,
            "--max-calls": self.calls,
            "--max-tokens": self.tokens,
            "--max-seconds": self.seconds,
            "--max-cost": self.cost,
            "--over-cap": self.over_cap or None,
        }
        return next((flag for flag, value in flags.items() if value is not None), "")


@dataclass(kw_only=True)
class Invocation:
    """The global options and shared resources of a run. The options set it; the commands read it."""

    environment: Mapping[str, str]
    started_in: Path | None
    home: Path
    open_screen: OpenScreen | None = None
    workspace_flag: Path | None = None
    model: str | None = None
    json: bool = False
    resume: str | None = None
    latest: bool = False
    screen_reader: bool | None = None
    add_dirs: list[Path] = field(default_factory=list[Path])
    prompt: str | None = None
    headless: HeadlessFlags = field(default_factory=HeadlessFlags)
    trust_first: bool = False
    status: int = 0
    _access_notice_printed: bool = False

    @cached_property
    def here(self) -> Path:
        """The current folder. If it was deleted, the named workspace becomes it. Raises Misuse if none is named."""
        if self.started_in is not None:
            return self.started_in
        named = Path(self.workspace_flag or self.environment.get("PALIMPSEST_WORKSPACE") or "")
        if not named.is_absolute():
            hint = "`cd` to an existing folder, or give the workspace's full path: --workspace /FOLDER."
            raise Misuse("No current folder", "The current folder was deleted.", hint)
        with suppress(OSError):  # `init` has yet to make it
            os.chdir(named)
        return named

    @property
    def project(self) -> tuple[Path, ...]:
        """The folders where tools work, the current one first."""
        return (self.here, *self.add_dirs)

    @cached_property
    def workspace(self) -> Workspace:
        """The chosen workspace; it may not exist yet."""
        from agent.config.workspaces import find_workspace

        workspace = find_workspace(self.workspace_flag, self.environment, self.here, self.home)
        if self.trust_first:
            from agent.services.trust import trust_instructions, trust_workspace
            from foundation.paths import Workspace

            trust_instructions(Workspace(self.here), self.environment)
            if workspace.brings_state and (notice := trust_workspace(workspace, self.environment).set_aside):
                output.narrate(notice)
        return workspace

    @cached_property
    def loaded_config(self) -> LoadedConfig:
        """The configuration in force. Its notices are printed here, once."""
        from agent.config.config import load_config

        flags: dict[str, Any] = {"model": self.model} if self.model is not None else {}
        reading = load_config(self.workspace, self.environment, flags)
        for notice in reading.notices:
            output.narrate(notice)
        return reading

    @property
    def location_access(self) -> LocationAccess:
        """How the locations of sync are reached."""
        from memory.sync.renewal import LocationAccess

        return LocationAccess(self.loaded_config.config.sync, self.environment)

    def prepare(self, *, for_writing: bool = False, writable: bool = False) -> Workspace:
        """The workspace; a missing one is created for writing, never for reading. Raises NoWorkspace.

        `writable` raises ReadOnly where it is not trusted.
        """
        from agent.config.workspaces import prepare_workspace

        workspace = self.workspace
        if workspace.is_workspace:
            if writable:
                self.report_trust(workspace, writable=True)
            return workspace
        if not for_writing:
            raise self._no_workspace()
        prepare_workspace(workspace, self.environment)
        output.narrate(f"Workspace created: {workspace.root}")
        return workspace

    def report_trust(self, workspace: Workspace, *, writable: bool = False) -> None:
        """Prints what of the workspace is not in force. With `writable`, raises ReadOnly where it is not trusted."""
        from foundation.workspace_trust import trust_store
        from memory.access import WorkspaceAccess, refuse_read_only

        access = WorkspaceAccess.of(workspace, trust_store(self.environment))
        access.close()
        if writable:
            refuse_read_only(access.workspace, access.trust_state)
        self._print_access_notice(access)

    @property
    def is_workspace_named(self) -> bool:
        """Whether a flag or a variable names it."""
        return self.workspace_flag is not None or bool(self.environment.get("PALIMPSEST_WORKSPACE"))

    def _no_workspace(self) -> NoWorkspace:
        root = self.workspace.root
        if self.is_workspace_named:
            problem = "is not a workspace" if root.exists() else "does not exist"
            return NoWorkspace("No workspace", f"{root} {problem}.", f"`{own_command('init', str(root))}` creates one.")
        return NoWorkspace(
            "No workspace",
            f"Neither {self.here} nor a folder above it is a workspace, and there is no {root}.",
            f"`{PROGRAM} init .` creates one here; `{PROGRAM} init` creates {root}.",
        )

    @contextmanager
    def memory(
        self, *, for_writing: bool = False, recovering: bool = False, finishing: bool = True
    ) -> Generator[Memory]:
        """The workspace's memory, closed afterwards; its problems are printed.

        For writing, or with `recovering`, answers interrupted by a crash are completed first, so that a search finds
        them. So is what was begun to be forgotten, but for a command that does so itself, without `finishing`.
        """
        from agent.config.embedder import embedding_of
        from agent.services.forget import finish_pending
        from foundation.workspace_trust import trust_store
        from memory.access import refuse_read_only
        from memory.memory import Memory

        config = self.loaded_config.config
        workspace = self.prepare(for_writing=for_writing)
        memory = Memory.open(
            workspace,
            settings=config.archive,
            embedding=embedding_of(config),
            trust=trust_store(self.environment),
            reads_when_full=not for_writing,
        )
        memory.scope = lambda: config.context.scope
        try:
            self._print_access_notice(memory.access)
            if for_writing:
                refuse_read_only(memory.workspace, memory.access.trust_state if memory.access else None)
            if lost := memory.database_lost():
                output.narrate(lost)
            if for_writing or recovering:
                memory.recover()
                if finishing:
                    finish_pending(memory, output.narrate)
            yield memory
            for trouble in memory.vault.troubles():
                output.narrate(trouble)
        finally:
            memory.close()

    async def session(self, *, for_writing: bool = True) -> Session:
        """A session in the chosen conversation; the caller closes it."""
        from agent.cli.facts import facts
        from agent.services.foreign_deletion import ForeignDeletions
        from agent.services.forget import finish_pending
        from agent.session import Session

        workspace = self.prepare(for_writing=for_writing)
        self._ask_for_key()
        session = await asyncio.to_thread(
            Session.open, workspace, self.loaded_config.config, facts=facts, project=self.project
        )
        session.jobs.sync.deletions = ForeignDeletions(session.memory)
        try:
            await asyncio.to_thread(finish_pending, session.memory, output.narrate)
            self._print_access_notice(session.memory.access)
            if lost := await asyncio.to_thread(session.memory.database_lost):
                output.narrate(lost)
            await self._choose_conversation(session)
        except PalimpsestError:
            session.memory.close()
            raise
        return session

    def _ask_for_key(self) -> None:
        """Asks on the terminal for the key that the model needs, and stores it; without one raises MissingKey."""
        from agent.cli.keys import asked_key
        from foundation.keys import StoredKeys
        from models.chat.service_keys import MissingKey, require_key
        from models.chat.spec import parse_spec

        try:
            require_key(parse_spec(self.loaded_config.config.model), self.environment)
        except MissingKey as error:
            if not (sys.stdin.isatty() and sys.stderr.isatty()):
                raise
            StoredKeys(self.environment).set(error.service, asked_key(error.service))

    def _print_access_notice(self, access: WorkspaceAccess | None) -> None:
        """Prints once what of this workspace is not in force, and how to change that."""
        if (
            access is not None
            and (notice := access.notice_naming(self.ignored_settings))
            and not self._access_notice_printed
        ):
            self._access_notice_printed = True
            output.narrate(notice)

    @property
    def ignored_settings(self) -> list[str]:
        """Settings of the workspace's configuration that are not in force, because it changed."""
        from agent.config.config import read_config

        if "reading" not in self.__dict__:  # for commands without settings, which an invalid one does not stop
            return [setting.name for setting in read_config(self.workspace, self.environment, {}).ignored]
        return [setting.name for setting in self.loaded_config.ignored]

    async def _choose_conversation(self, session: Session) -> None:
        if self.resume is not None:
            await session.resume(self.resume)
        elif self.latest and await session.resume_latest() is None:
            output.narrate("There is no conversation to continue; this is a new one.")

    def check_one_conversation(self) -> None:
        if self.latest and self.resume is not None:
            raise Misuse(
                "Two conversations", "-c continues the latest conversation, -r another one.", "Give one of them."
            )


def current() -> Invocation:
    """The invocation of the command that runs."""
    return click.get_current_context().find_root().ensure_object(Invocation)


def piped_input(seconds: float | None = None) -> str | None:
    """Reads standard input if it is a pipe or a file. Returns None for a terminal or no input.

    If nothing comes within `seconds`, an open pipe is not read any further. None waits for its end.
    """
    if sys.stdin is None or sys.stdin.closed or sys.stdin.isatty():  # pyright: ignore[reportUnnecessaryComparison] -- None under pythonw
        return None
    return decode_input(message_input(seconds), "standard input")


MOST_INPUT = 16 * 2**20  # bytes of a message, or of a list of queries

NOTICE_AFTER_S = 1.0  # of waiting for standard input


def raw_input(most: int, seconds: float | None = None) -> bytes | None:
    """Reads standard input to its end. Returns None for more than `most` bytes, b"" if nothing comes in `seconds`."""
    first = SimpleQueue[bytes]()
    threading.Thread(target=_read_first, args=(first,), daemon=True).start()
    try:
        raw = first.get(timeout=NOTICE_AFTER_S)
    except Empty:
        output.narrate("Waiting for standard input; use `< /dev/null` to skip it.")
        try:
            raw = first.get(timeout=seconds)
        except Empty:
            output.narrate(f"No data on standard input within {seconds:g} s; continuing without it.")
            return b""
    raw += sys.stdin.buffer.read(most + 1 - len(raw)) if raw else b""
    return raw if len(raw) <= most else None


def _read_first(first: SimpleQueue[bytes]) -> None:
    """Puts the first bytes into the queue. It takes no lock of `sys.stdin`, which would keep Python from exiting."""
    raw = b""
    with suppress(OSError, ValueError):
        raw = os.read(sys.stdin.fileno(), 65_536) if _has_descriptor() else sys.stdin.buffer.read(65_536)
    first.put(raw)


def _has_descriptor() -> bool:
    try:
        return sys.stdin.fileno() >= 0
    except (OSError, ValueError):
        return False


def message_input(seconds: float | None = None) -> bytes:
    """Standard input as a message or queries. Raises Misuse for more than MOST_INPUT."""
    raw = raw_input(MOST_INPUT, seconds)
    if raw is None:
        message = f"Standard input is larger than {MOST_INPUT:,} bytes, the maximum for a message."
        raise Misuse("Too large", message, f"`{PROGRAM} archive -` or `{PROGRAM} import FILE` takes more.")
    return raw


def decode_input(raw: bytes, name: str) -> str:
    """Decodes UTF-8 without a byte order mark. Raises Misuse for anything else."""
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Misuse("Not text", f"{name} is not valid UTF-8 (byte {error.start}).", "Convert it to UTF-8.") from error
