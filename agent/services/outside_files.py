"""Permission to attach files that a message mentions and that lie outside the project."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from agent.events import PermissionRequested
from agent.permissions.action import Access, Action, PermissionAnswer
from agent.permissions.policy import PermissionMode, Policy
from agent.permissions.rules import Verdict
from agent.services.attachments import mentioned_files
from context import Attachment, load_attachment
from foundation.paths import Workspace
from foundation.terminal_text import visible_line
from models.messages import ToolCall

if TYPE_CHECKING:
    from agent.tools.files.project import ProjectFolders

ATTACH_TOOL: Final = "attach_file"  # in the rules: attach_file(//etc/hosts)
_REASON: Final = "Your message names it with @, and what is attached is sent to the model."

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
    paths = await asyncio.to_thread(mentioned_files, text, here)
    outside = await asyncio.to_thread(_outside, paths, session, here)
    refusals: list[str] = []
    for path, real in outside.items():
        if refusal := await _refusal(session.permissions, real, ask):
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


async def _refusal(policy: Policy, path: Path, ask: AskPort | None) -> str:
    """Why the file is not attached; "" where it may be."""
    name = visible_line(str(path))
    action = Action(tool=ATTACH_TOOL, access=Access.READ, summary=f"Attach {name}", subject=path.as_posix())
    await asyncio.to_thread(policy.rules.refresh)
    if rule := policy.rules.first(Verdict.DENY, action):
        return f"{name} is not attached: {rule.where} denies it: {rule}."
    if not policy.rules.problem and policy.rules.first(Verdict.ALLOW, action):
        return ""
    offers = tuple(rule.text for rule in policy.offers(action))
    if ask is None:
        if policy.mode is PermissionMode.AUTO:
            return ""
        return (
            f"{name} is not attached: it is outside the project, and nobody can be asked here. "
            f"The rule {visible_line(offers[0])} allows it."
        )
    answer: asyncio.Future[PermissionAnswer] = asyncio.get_running_loop().create_future()
    request = PermissionRequested(ToolCall("", ATTACH_TOOL, ""), action, _REASON, answer, offers=offers)
    given = await ask(request)
    if not given.granted:
        return f"{name} is not attached: you declined it."
    await asyncio.to_thread(policy.remember, action, given)
    return ""
