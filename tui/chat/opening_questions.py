"""Questions before the chat opens: about trust, links out of the workspace, and MCP servers of the project."""

import asyncio
from typing import TYPE_CHECKING

from textual.screen import Screen

from foundation.errors import PalimpsestError
from foundation.paths import Workspace
from tui.chat.start import ChatStart
from tui.chat.view import ChatView
from tui.internal_errors import internal_error
from tui.output.attention import ASKS
from tui.typed_app import app_of
from tui.widgets.prompt.input import Prompt
from tui.widgets.transcript.items import MutedLine

if TYPE_CHECKING:  # loaded after first paint
    from agent.session import Session
    from tui.dialogs.trust import QuestionDialog


class OpeningQuestions:
    """Asks them on the chat's screen. Text typed meanwhile goes into the prompt."""

    def __init__(self, screen: Screen[None], start: ChatStart, prompt: Prompt, view: ChatView) -> None:
        self._screen = screen
        self._start = start
        self._prompt = prompt
        self._view = view

    async def ask_for_trust(self) -> Workspace | None:
        """Asks whether to trust a workspace that was made elsewhere, or that changed since it was trusted.

        Gives the workspace where it is trusted now.
        """
        start = self._start
        if start.trust is None:
            return None
        from tui.dialogs.trust import ChangesScreen, TrustScreen

        question = ChangesScreen(start.changes) if start.changes else TrustScreen(start.contents)
        if not await self._ask(question):
            self._view.transcript.add(MutedLine(start.untrusted_notice, tone="warning", gap=True))
            return None
        try:
            return await asyncio.to_thread(start.trust)
        except (PalimpsestError, OSError) as error:
            self._show_error(error)
            return None

    async def ask_about_links(self) -> None:
        """Asks once for each link out of a trusted workspace whether to follow it."""
        follow = self._start.follow
        if follow is None:
            return
        for name, target in self._start.links():
            from agent.services.trust import link_effect
            from tui.dialogs.trust import LinkScreen

            allowed = await self._ask(LinkScreen(name, target, link_effect(name)))
            if allowed is None:
                continue
            try:
                await asyncio.to_thread(follow, name, allowed)
            except (PalimpsestError, OSError) as error:
                self._show_error(error)

    async def ask_about_servers(self, session: "Session") -> None:
        """Asks for each MCP server of the project that is new or changed whether it may run."""
        for server in session.servers.unanswered:
            from tui.dialogs.trust import ServerScreen

            is_changed = session.servers.is_changed(server)
            answer = await self._ask(ServerScreen(server.name, (*server.facts, server.effect), is_changed=is_changed))
            if answer is None:
                continue
            try:
                await asyncio.to_thread(session.servers.answer, server.name, allowed=answer)
            except (PalimpsestError, OSError) as error:
                self._show_error(error)

    async def _ask(self, question: "QuestionDialog") -> bool | None:
        """The user's answer. Text typed during the dialog goes into the prompt."""
        self._view.attention.call(ASKS)
        answer = await app_of(self._screen).push_screen_wait(question)
        if question.typed:
            self._prompt.set_text(self._prompt.text + question.typed)
        return answer

    def _show_error(self, error: PalimpsestError | OSError) -> None:
        self._view.show_error(error if isinstance(error, PalimpsestError) else internal_error(error))
