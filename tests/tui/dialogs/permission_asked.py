"""What a model asks for in the tests of the permission dialog, and the dialog opened with it."""

from typing import Any

from agent.permissions.action import Access, Action, PermissionAnswer
from tui.dialogs.permission import PermissionScreen

LONG = "\n".join(f"line {number} of the note" for number in range(60))
ACTION = Action(tool="remember", access=Access.NOTE, summary="add to MEMORY.md", detail=LONG)
RUN = Action(tool="run_command", access=Access.RUN, summary="run git status", subject="git status -s")


async def opened(chat: Any) -> tuple[PermissionScreen, list[PermissionAnswer | None]]:
    answers: list[PermissionAnswer | None] = []
    dialog = PermissionScreen(ACTION, "Writing memory always needs confirmation.")
    chat.app.push_screen(dialog, answers.append)
    await chat.until(lambda: chat.app.screen is dialog)
    return dialog, answers
