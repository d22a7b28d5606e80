"""Dialogs before the chat opens: about trust, links out of the workspace, and what the project brings."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual.screen import Screen

from foundation.errors import PalimpsestError
from tui.chat.view import ChatView
from tui.internal_errors import internal_error
from tui.output.attention import ASKS
from tui.typed_app import app_of
from tui.widgets.prompt.input import Prompt
from tui.widgets.transcript.items import MutedLine

if TYPE_CHECKING:  # loaded after first paint
    from tui.dialogs.trust import QuestionDialog


class OpeningDialogs:
    """Asks on the chat's screen (agent.services.opening_questions). Text typed meanwhile goes into the prompt."""

    def __init__(self, screen: Screen[None], prompt: Prompt, view: ChatView) -> None:
        self._screen = screen
        self._prompt = prompt
        self._view = view

    async def ask_trust(self, contents: Sequence[str]) -> bool | None:
        from tui.dialogs.trust import TrustScreen

        return await self._ask(TrustScreen(contents))

    async def ask_changes(self, changes: Sequence[str]) -> bool | None:
        from tui.dialogs.trust import ChangesScreen

        return await self._ask(ChangesScreen(changes))

    async def ask_link(self, name: str, target: str, effect: str) -> bool | None:
        from tui.dialogs.trust import LinkScreen

        return await self._ask(LinkScreen(name, target, effect))

    async def ask_server(self, name: str, facts: Sequence[str], *, is_changed: bool) -> bool | None:
        from tui.dialogs.trust import ServerScreen

        return await self._ask(ServerScreen(name, facts, is_changed=is_changed))

    async def ask_instructions(self, files: Sequence[str], *, is_changed: bool) -> bool | None:
        from tui.dialogs.trust import InstructionsScreen

        return await self._ask(InstructionsScreen(files, is_changed=is_changed))

    def show_warning(self, text: str) -> None:
        self._view.transcript.interject(MutedLine(text, tone="warning", gap=True))

    def show_failure(self, error: PalimpsestError | OSError) -> None:
        self._view.show_error(error if isinstance(error, PalimpsestError) else internal_error(error))

    async def _ask(self, question: "QuestionDialog") -> bool | None:
        """The user's answer. Text typed during the dialog goes into the prompt, and is sent by an Enter after it."""
        self._view.attention.call(ASKS)
        answer = await app_of(self._screen).push_screen_wait(question)
        if question.typed:
            self._prompt.set_text(self._prompt.text + question.typed)
        if question.sends:
            self._prompt.submit()
        return answer
