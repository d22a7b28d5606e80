"""Questions before the chat opens: about trust, links out of the workspace, and MCP servers of the project."""

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final, Protocol

from msgspec import Struct

from foundation.errors import PalimpsestError
from foundation.paths import Workspace
from foundation.terminal_text import visible_code_line

if TYPE_CHECKING:  # loaded after first paint
    from agent.session import Session

TRUST, FOLLOW, NEVER, NOT_NOW, LATER, READ_ONLY = "trust it", "follow it", "never", "not now", "later", "read only"
TRUST_EFFECT: Final = (
    "Trusted, it is written to, its configuration may set the model's address, paths and commands, "
    "and the model reads its skills."
)


class OpeningQuestion(Struct, frozen=True, kw_only=True):
    """A title and facts, control characters made visible, and the names of its answers.

    `yes` is True, `no` False (both for good), `later` None: it is asked again at the next start. "" is no answer of
    this question. `later`, and `no` where there is no `later`, is the answer that changes nothing.
    """

    title: str
    facts: tuple[str, ...]
    yes: str
    no: str = ""
    later: str = ""


def trust_question(contents: Sequence[str]) -> OpeningQuestion:
    """Whether a workspace that was made elsewhere is trusted. `contents` describes it, a fact per line."""
    facts = (*contents, "Read-only, you can look and search; nothing in it is written or deleted.", TRUST_EFFECT)
    return _question("This workspace was not made here", facts, yes=TRUST, no=READ_ONLY)


def changes_question(changes: Sequence[str]) -> OpeningQuestion:
    """Whether changes to a trusted workspace are trusted. `changes` describes them, a file per line."""
    facts = (*changes, "Until you trust what is new or changed, it is not in force; all else is.")
    return _question("This workspace changed since you trusted it", facts, yes=TRUST, later=LATER)


def link_question(name: str, target: str, effect: str) -> OpeningQuestion:
    """Whether a link out of the workspace is followed. `effect` describes what following it allows."""
    title = f"{name} is a link out of this workspace"
    return _question(title, ("It leads to", target, effect), yes=FOLLOW, no=NEVER, later=NOT_NOW)


def server_question(name: str, facts: Sequence[str], *, is_changed: bool) -> OpeningQuestion:
    """Whether an MCP server of the project may run. `facts` say what it runs; `is_changed`: another definition of it
    was trusted."""
    title = f"The project's MCP server {name} {'changed' if is_changed else 'would run here'}"
    return _question(title, facts, yes=TRUST, no=NEVER, later=NOT_NOW)


def instructions_question(files: Sequence[str], *, is_changed: bool) -> OpeningQuestion:
    """Whether the model may read the project's instruction files. `files` are their paths and the beginnings of their
    texts, line by line. `is_changed`: other contents were trusted."""
    title = f"The project's instructions {'changed' if is_changed else 'for agents are new'}"
    effect = (
        "If you trust them, the model reads them in each conversation in this project. You are asked again when a file "
        "changes."
    )
    return _question(title, (effect, *files), yes=TRUST, no=NEVER, later=NOT_NOW)


def _question(title: str, facts: Sequence[str], *, yes: str, no: str = "", later: str = "") -> OpeningQuestion:
    shown = tuple(map(visible_code_line, facts))
    return OpeningQuestion(title=visible_code_line(title), facts=shown, yes=yes, no=no, later=later)


class OpeningTrust(Protocol):
    """What the command line found out about the workspace (agent.cli.launch)."""

    @property
    def contents(self) -> tuple[str, ...]:
        """Of a workspace that is not trusted; () if it is."""
        ...

    @property
    def changes(self) -> tuple[str, ...]:
        """Changes to a trusted workspace that are not in effect; () if there are none."""
        ...

    @property
    def trust(self) -> Callable[[], Workspace] | None:
        """Trusts the workspace, and gives the one to use from then on; None where there is nothing to trust."""
        ...

    @property
    def untrusted_notice(self) -> str: ...

    @property
    def links(self) -> Callable[[], tuple[tuple[str, str], ...]]:
        """Links out of the workspace to ask about: name, target."""
        ...

    @property
    def follow(self) -> Callable[[str, bool], None] | None:
        """Stores whether a link is followed."""
        ...


class AskingPort(Protocol):
    """The face that asks. True and False hold for good; None is asked again at the next start."""

    async def ask_trust(self, contents: Sequence[str]) -> bool | None: ...

    async def ask_changes(self, changes: Sequence[str]) -> bool | None: ...

    async def ask_link(self, name: str, target: str, effect: str) -> bool | None: ...

    async def ask_server(self, name: str, facts: Sequence[str], *, is_changed: bool) -> bool | None: ...

    async def ask_instructions(self, files: Sequence[str], *, is_changed: bool) -> bool | None: ...

    def show_warning(self, text: str) -> None: ...

    def show_failure(self, error: PalimpsestError | OSError) -> None: ...


async def ask_for_trust(face: AskingPort, state: OpeningTrust) -> Workspace | None:
    """Asks whether to trust a workspace that was made elsewhere, or that changed since it was trusted.

    Gives the workspace where it is trusted now.
    """
    if state.trust is None:
        return None
    asked = face.ask_changes(state.changes) if state.changes else face.ask_trust(state.contents)
    if not await asked:
        face.show_warning(state.untrusted_notice)
        return None
    try:
        return await asyncio.to_thread(state.trust)
    except (PalimpsestError, OSError) as error:
        face.show_failure(error)
        return None


async def ask_about_links(face: AskingPort, state: OpeningTrust) -> None:
    """Asks once for each link out of a trusted workspace whether to follow it."""
    if state.follow is None:
        return
    for name, target in state.links():
        from agent.services.trust import link_effect

        allowed = await face.ask_link(name, target, link_effect(name))
        if allowed is None:
            continue
        await _store(face, partial(state.follow, name, allowed))


async def ask_about_project(face: AskingPort, session: "Session") -> None:
    """Asks whether the model may read the project's instructions, and whether its MCP servers may run, if these are new
    or changed."""
    instructions = session.instructions
    await asyncio.to_thread(instructions.refresh)
    if files := instructions.unanswered:
        changed = await asyncio.to_thread(lambda: instructions.is_changed)
        answer = await face.ask_instructions([fact for file in files for fact in file.facts], is_changed=changed)
        if answer is not None:
            await _store(face, partial(instructions.answer, files, allowed=answer))
    for server in session.servers.unanswered:
        is_changed = session.servers.is_changed(server)
        answer = await face.ask_server(server.name, (*server.facts, server.effect), is_changed=is_changed)
        if answer is not None:
            await _store(face, partial(session.servers.answer, server.name, allowed=answer))


async def _store(face: AskingPort, store: Callable[[], object]) -> None:
    try:
        await asyncio.to_thread(store)
    except (PalimpsestError, OSError) as error:
        face.show_failure(error)
