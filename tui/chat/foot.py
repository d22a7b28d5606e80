"""Foot of the chat: the prompt with all that stands around it."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from rich.text import Text
from textual import on, work
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.widgets import Static

from foundation.errors import PalimpsestError
from foundation.terminal_text import visible
from tui.chat.chat_find import ChatFind
from tui.internal_errors import internal_error
from tui.typed_app import app_of
from tui.widgets.focus_bar import FocusBar
from tui.widgets.plan_panel import PlanPanel
from tui.widgets.prompt.history import PromptHistory
from tui.widgets.prompt.input import Prompt
from tui.widgets.prompt.prefixes import HINTS, prefixed
from tui.widgets.prompt.suggestions import Suggestions
from tui.widgets.status import NewBelowHint, StatusBar

if TYPE_CHECKING:  # loaded after first paint
    from agent.session import Session
    from tui.chat.completion import PromptCompletion

CHIP_HINT: Final = "Ctrl+O opens it"


class ChatFoot(Vertical):
    """Completes what is typed, and opens the editor and the list of earlier texts."""

    def __init__(
        self,
        history: PromptHistory,
        folder: Path,
        session: "Callable[[], Session | None]",
        is_idle: Callable[[], bool],
        make_find: Callable[[Prompt, StatusBar], ChatFind],
    ) -> None:
        """`folder` is where the names of files begin; `session` gives None before it is open; `is_idle` says whether
        an editor may take the terminal.
        """
        super().__init__(id="foot")
        self._history, self._folder, self._session, self._is_idle = history, folder, session, is_idle
        self.suggestions = Suggestions()
        self.prompt = Prompt(history, self.suggestions)
        self.status = StatusBar()
        self.focus_bar = FocusBar()
        self.find_bar = make_find(self.prompt, self.status)
        self.plan = PlanPanel()
        self.new_below = NewBelowHint()
        self.queue_list = Static(id="waiting", markup=False)
        self.queue_list.display = False
        self.rewriting = Static(id="rewriting", markup=False)  # says which message the prompt rewrites
        self.rewriting.display = False
        self._shown_hint = ""
        self._returned = Static(id="returned", markup=False)  # says that a text came back into the prompt
        self._returned.display = False
        self._returned_text = ""
        self._completion: PromptCompletion | None = None  # made when something is first typed
        self._said: set[str] = set()  # messages of errors while completing

    def compose(self) -> ComposeResult:
        with Vertical(id="foot-column"):
            yield self.new_below
            yield self.plan
            yield self.suggestions
            yield self.queue_list
            yield self._returned
            yield self.rewriting
            with Horizontal(id="prompt-line"):
                yield Static("❯", id="prompt-mark", markup=False)
                yield self.prompt
            yield self.status
            yield self.focus_bar
            yield self.find_bar

    def on_resize(self) -> None:
        """Keeps notifications above the prompt."""
        for rack in self.screen.query("ToastRack"):
            rack.styles.margin = (0, 0, self.size.height, 0)

    def close(self) -> None:
        """Ends the reading of the project's files."""
        if self._completion:
            self._completion.close()

    @on(Prompt.Changed)
    def _prompt_changed(self) -> None:
        self._show_hint()
        if self._returned.display and self.prompt.text != self._returned_text:
            self._returned.display = False
        self._complete()
        if self.prompt.text.strip() and (session := self._session()) is not None:
            session.warm_up.start()

    @on(Prompt.Returned)
    def _say_what_returned(self, message: Prompt.Returned) -> None:
        """Says so by the prompt until the text is changed or sent."""
        self._returned_text = self.prompt.text
        self._returned.update(Text(message.why))
        self._returned.display = bool(self._returned_text.strip())

    @on(Prompt.SelectionChanged)
    def _show_hint(self) -> None:
        """Shows what a key does with the prompt's text, where that is special."""
        own = prefixed(self.prompt.text)
        hint = HINTS[own.kind] if own else CHIP_HINT if self.prompt.chip is not None else ""
        if hint or self._shown_hint:
            self.status.update_info(hint=hint)
        self._shown_hint = hint

    @on(Prompt.VimStateChanged)
    def _show_vim_state(self, message: Prompt.VimStateChanged) -> None:
        self.status.update_info(vim=message.label)

    @on(Prompt.ImageRequested)
    @work(exclusive=True, group="image")
    async def _paste_image(self) -> None:
        from tui.chat.prompt_images import paste_from_clipboard

        session = self._session()
        await paste_from_clipboard(self.prompt, session.workspace.pasted_images if session else None)

    @on(Prompt.PathPasted)
    @work(group="image")
    async def _attach_paths(self, message: Prompt.PathPasted) -> None:
        from tui.chat.prompt_images import attach_paths

        await attach_paths(self.prompt, message.text, self._folder)

    @on(Prompt.ChipOpened)
    @work(exclusive=True, group="chip")
    async def _open_chip(self, message: Prompt.ChipOpened) -> None:
        from tui.chat.prompt_images import open_chip

        session = self._session()
        await open_chip(self.prompt, message.content, session.config.screen.pictures if session else "auto")

    @work(exclusive=True, group="completion")
    async def _complete(self) -> None:
        from tui.chat.completion import PromptCompletion

        text, before = self.prompt.text, self.prompt.before_cursor
        if self._completion is None:
            self._completion = PromptCompletion(self._folder, tuple(app_of(self).available_themes))
        self._completion.session = self._session()
        try:
            suggestions = await self._completion.suggest(text, before)
            if self.prompt.text == text:
                self.suggestions.offer(suggestions)
            if await self._completion.has_more_soon(before):
                self._complete()
        except Exception as error:  # the edge of a worker: what cannot be looked up must not end the chat
            self.suggestions.offer([])
            self._say_once(error if isinstance(error, PalimpsestError) else internal_error(error))

    def _say_once(self, error: PalimpsestError) -> None:
        if error.message not in self._said:
            self._said.add(error.message)
            app_of(self).notify(visible(error.message), severity="warning", markup=False)

    @on(Prompt.HistoryRequested)
    @work
    async def _search_history(self) -> None:
        from tui.chat.prompt_actions import choose_earlier

        await choose_earlier(self.prompt, self._history.entries)

    @on(Prompt.EditorRequested)
    def _open_editor(self) -> None:
        from tui.chat.prompt_actions import edit_in_editor

        edit_in_editor(self.prompt, is_idle=self._is_idle())
