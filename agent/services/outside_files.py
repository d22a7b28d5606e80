"""Permission to attach files that a message mentions and that lie outside the project."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from agent.events import PermissionRequested
from agent.permissions.action import PermissionAnswer
from agent.permissions.attached_files import ATTACH_TOOL, attach_action, decide_attachment
from agent.permissions.mode import PermissionMode
from agent.permissions.policy import Policy
from agent.permissions.rules import Verdict
from agent.services.attachments import mentioned_files
from context import Attachment, load_attachment
from foundation.paths import Workspace
from foundation.terminal_text import visible_line
from memory.records import new_id
from models.messages import ToolCall

if TYPE_CHECKING:
    from agent.tools.files.project import ProjectFolders

_REASON: Final = "Your message attaches it with @, and attached files are sent to the model."

AskPort = Callable[[PermissionRequested], Awaitable[PermissionAnswer]]


class AttachingSession(Protocol):
    """What of a session decides about its files."""

    @property
    def project(self) -> "ProjectFolders": ...

    @property
    def workspace(self) -> Workspace: ...

    @property
    def permissions(self) -> Policy: ...


async def permitted_attachments(
    session: AttachingSession, text: str, here: Path, ask: AskPort | None = None
) -> tuple[tuple[Attachment, ...], list[str]]:
    """The files that a message mentions, loaded, and a sentence for each that is not attached.

    A file outside the project asks as a tool does, and the answer is remembered as its. Where nobody can be asked, a
    rule or the mode `auto` lets it be attached. Raises BadAttachment.
    """
    return await _loaded(session, text, here, lambda path: _refusal(session.permissions, path, ask))


async def previewed_attachments(
    session: AttachingSession, text: str, here: Path
) -> tuple[tuple[Attachment, ...], list[str]]:
    """As `permitted_attachments`, for a request that is only looked at: what would be asked about is not read."""
    return await _loaded(session, text, here, lambda path: _preview_refusal(session.permissions, path))


async def _loaded(
    session: AttachingSession, text: str, here: Path, refusal_of: Callable[[Path], Awaitable[str]]
) -> tuple[tuple[Attachment, ...], list[str]]:
    """The files that may be attached, loaded. `refusal_of` says why one from outside the project is not."""
    paths = await asyncio.to_thread(mentioned_files, text, here)
    outside = await asyncio.to_thread(_outside, paths, session, here)
    refusals: list[str] = []
    for path, real in outside.items():
        if refusal := await refusal_of(real):
            refusals.append(refusal)
            paths.remove(path)
    loaded = await asyncio.to_thread(lambda: tuple(map(load_attachment, paths)))
    return loaded, refusals


def _outside(paths: Sequence[Path], session: AttachingSession, here: Path) -> dict[Path, Path]:
    """Those outside of the project, the workspace and the folder where the person stands, with where they lead."""
    workspace = session.workspace
    inside = [*session.project.folders, here.resolve(), workspace.root.resolve(), workspace.pasted_images.resolve()]
    resolved = {path: path.resolve() for path in paths}
    return {path: real for path, real in resolved.items() if not any(map(real.is_relative_to, inside))}


async def _preview_refusal(policy: Policy, path: Path) -> str:
    """Why a preview does not read the file; "" where it may."""
    decision = await asyncio.to_thread(decide_attachment, policy, attach_action(path.as_posix()))
    name = visible_line(str(path))
    match decision.verdict:
        case Verdict.ALLOW:
            return ""
        case Verdict.DENY:
            return f"{name} is not attached: {decision.reason}"
        case Verdict.ASK:
            return f"{name} is outside the project and was not read here. Sending the message asks for it first."


async def _refusal(policy: Policy, path: Path, ask: AskPort | None) -> str:
    """Why the file is not attached; "" where it may be."""
    name, action = visible_line(str(path)), attach_action(path.as_posix())
    decision = await asyncio.to_thread(decide_attachment, policy, action)
    if decision.verdict is Verdict.DENY:
        return f"{name} is not attached: {decision.reason}"
    if decision.verdict is Verdict.ALLOW:
        return ""
    offers = tuple(rule.text for rule in policy.offers(action))
    given = PermissionAnswer(False, attended=False)
    if ask is not None:
        answer: asyncio.Future[PermissionAnswer] = asyncio.get_running_loop().create_future()
        call = ToolCall(new_id("attach"), ATTACH_TOOL, "")
        given = await ask(PermissionRequested(call, action, _REASON, answer, offers=offers, decision=decision))
    if given.granted:
        await asyncio.to_thread(policy.remember, action, given)
        return ""
    if given.attended:
        return f"{name} is not attached: you declined it."
    if policy.mode is PermissionMode.AUTO and not decision.asks_always:
        return ""
    return (
        f"{name} is not attached: it is outside the project and cannot be confirmed here. The rule "
        f"{visible_line(offers[0])} would allow it."
    )
