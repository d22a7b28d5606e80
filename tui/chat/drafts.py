"""Saves the text in the prompt while it is typed, and restores it."""

import asyncio
import threading
from collections.abc import Callable, Sequence
from typing import Final, Protocol

from textual.message_pump import MessagePump
from textual.timer import Timer

from agent.services.drafts import OPENING, Draft
from agent.services.pasted_images import remove_old_images
from agent.services.window_drafts import WindowDrafts
from foundation.errors import PalimpsestError
from foundation.paths import Workspace
from tui.typed_app import app_of
from tui.widgets.prompt.chips import PastedImage
from tui.widgets.prompt.history import PromptHistory
from tui.widgets.prompt.input import Prompt
from tui.widgets.prompt.prefixes import separate_prompts


class RewritingPort(Protocol):
    """Who knows which message the prompt's text is to replace."""

    @property
    def rewritten(self) -> str:
        """The message's id; "" for none."""
        ...

    async def rewrite_again(self, id_: str) -> None:
        """Has the next message replace this one, as when the draft was saved."""
        ...


def _images_in(texts: Sequence[str]) -> list[PastedImage]:
    """The images that the texts attach. Blocks."""
    if not any('@"' in text for text in texts):
        return []
    from tui.chat.prompt_images import mentioned_images

    return mentioned_images(texts)


DELAY: Final = 0.4  # seconds after the last key
OFFERED: Final = "This conversation has a saved draft. ↑ on the first line restores it."
RESTORED: Final = "restored an unsent draft · Ctrl+C clears it"


class DraftKeeper:
    """Saves and restores the prompt: `changed` at each key, `save` for an immediate save, `restore` on a resume."""

    def __init__(
        self,
        prompt: Prompt,
        history: PromptHistory,
        workspace: Workspace,
        current_conversation: Callable[[], str],
        rewriting: Callable[[], RewritingPort | None],
        *,
        waiting: Callable[[], list[str]] = list,
    ) -> None:
        """`current_conversation` gives its id, "" while it is not known: the draft is then that of OPENING. `rewriting`
        gives None before the session is open. `waiting` gives the messages that are not stored yet: they are saved
        before the prompt's text, as they come back into it where an answer is stopped."""
        self._prompt = prompt
        self._history = history
        self._workspace = workspace
        self._drafts = WindowDrafts(workspace.drafts)
        self._current_conversation = current_conversation
        self._rewriting = rewriting
        self._waiting = waiting
        self._newest = ""  # the text to save
        self._writing = threading.Lock()  # held while a file is written, so that the newest text is the last
        self._saved_as = ""  # the conversation of the draft on disk
        self._refusal = ""  # why the last draft was not written, shown once
        self._timer: Timer | None = None
        self._typed_before = 0  # what had been typed when the prompt was last emptied for another conversation
        self._is_switching = False  # during a switch the prompt belongs to no conversation
        self._can_save_early = False  # once the workspace is trusted, before the conversation is known

    def changed(self) -> None:
        """Saves a moment after the last key."""
        self._stop_timer()
        self._timer = self._prompt.set_timer(DELAY, self.save_soon)

    def save(self) -> bool:
        """Saves now. False, after a notice, where the draft could not be written."""
        self._stop_timer()
        self._newest = self._prompt.draft_text
        try:
            self._write_newest()
        except OSError as error:
            self._warn_of_refusal(error)
            return False
        self._note_kept()
        return True

    def stash(self) -> None:
        """Saves and empties the prompt; nothing more is saved until `restore`. ↑ gives what was not saved."""
        if not self.save():
            self._history.remember(self._prompt.full_text, self._prompt.draft_text)
        self._drafts.release()
        self._saved_as = ""
        self._is_switching = True
        self._prompt.set_text("")
        self._typed_before = self._prompt.held.typed

    def save_at_end(self) -> None:
        """Like `save`, and the last time; while the conversation is unknown, the text goes to the prompt history.

        Raises OSError where a text in the prompt is lost. Of the sent ones a notice was shown.
        """
        is_empty = not self._prompt.text.strip()
        try:
            if self._current_conversation():
                self._stop_timer()
                self._newest = self._prompt.draft_text
                self._write_newest()
            else:
                self._history.remember(self._prompt.full_text, self._prompt.draft_text)
                self._drafts.save(OPENING, "")
            self._history.write()
        except OSError:
            if not is_empty:
                raise
        finally:
            self._is_switching = True  # the session closes now: what is saved later would be of no conversation
            self.release()

    def release(self) -> None:
        """Leaves the drafts to the next window."""
        with self._writing:
            self._is_switching = True
            self._drafts.release()

    def move(self, workspace: Workspace) -> None:
        """Changes the workspace of the drafts and of the prompt history."""
        self._workspace = workspace
        self._drafts.release()
        self._drafts = WindowDrafts(workspace.drafts)
        self._history.move(workspace.prompt_history)

    async def load_history(self) -> None:
        """Loads the prompt history, for ↑ and Ctrl+R, and removes old images."""
        try:
            await asyncio.to_thread(self._history.load)
            await asyncio.to_thread(remove_old_images, self._workspace.pasted_images)
            self._history.add_images(await asyncio.to_thread(_images_in, self._history.entries))
        except OSError as error:
            self._warn(f"The prompt history could not be read: {error.strerror}.")

    async def restore(self) -> None:
        """Restores the conversation's draft; where something was typed meanwhile, ↑ brings it."""
        key = self._current_conversation()
        self._is_switching, self._can_save_early = False, True
        if not key or key == self._saved_as:
            return
        try:
            draft = await asyncio.to_thread(self._load, key)
        except (OSError, PalimpsestError) as error:
            self._warn(f"The draft could not be read: {error}")
            return
        self._saved_as = key
        self._history.add_pastes(draft.pastes)
        self._history.add_images(await asyncio.to_thread(_images_in, (draft.text,)))
        if draft.text and await self._is_typing():
            self._history.remember(draft.text)
            self._prompt.write_history_soon()
            self._prompt.notify(OFFERED, timeout=6)
        elif draft.text:
            self._prompt.set_text(draft.text)
            self._prompt.post_message(Prompt.Returned(RESTORED))
            if draft.rewrites and (rewriting := self._rewriting()):
                await rewriting.rewrite_again(draft.rewrites)

    def _load(self, key: str) -> Draft:
        """The conversation's draft; what a killed window had from before its conversation was known goes first, and ↑
        brings the other."""
        draft = self._drafts.load(key)
        if self._prompt.text.strip():
            return draft
        typed = self._drafts.load(OPENING)
        if not typed.text:
            return draft
        if draft.text and draft.text != typed.text:
            self._history.remember(draft.text)
        return typed

    async def _is_typing(self) -> bool:
        """Whether something was typed since the prompt was emptied, with the keys that are still on their way."""
        pumps: tuple[MessagePump, ...] = (app_of(self._prompt), self._prompt)
        for node in pumps:
            is_reached = asyncio.Event()
            if node.call_later(is_reached.set):
                await is_reached.wait()
        held = self._prompt.held
        return bool(self._prompt.text.strip() or held.has_input or held.typed > self._typed_before)

    def save_soon(self) -> None:
        """Saves the prompt and the messages that wait, in a thread."""
        prompts = separate_prompts([*self._waiting(), self._prompt.draft_text])
        self._newest = prompts[-1 if self._prompt.text.strip() else 0] if prompts else ""  # the others: ↑ has them
        self._prompt.run_worker(self._save_quietly, group="draft", exclusive=True)

    async def _save_quietly(self) -> None:
        try:
            await asyncio.to_thread(self._write_newest)
        except OSError as error:
            self._warn_of_refusal(error)
        else:
            self._note_kept()

    def _note_kept(self) -> None:
        if self._newest.strip():  # an empty draft needs no file, and says nothing about the disk
            self._refusal = ""

    def _write_newest(self) -> None:
        with self._writing:
            self._write(self._newest)

    def _write(self, text: str) -> None:
        key = self._current_conversation() or (OPENING if self._can_save_early else "")
        if not key or self._is_switching:
            return
        rewriting = self._rewriting()
        self._drafts.save(key, text, rewriting.rewritten if rewriting else "")
        for before in {self._saved_as, OPENING} - {"", key}:
            self._drafts.save(before, "")  # the text now belongs to this conversation
        if text.strip() or self._saved_as == key:  # else `restore` has still to read what is kept of this one
            self._saved_as = key

    def _stop_timer(self) -> None:
        if self._timer:
            self._timer.stop()

    def _warn_of_refusal(self, error: OSError) -> None:
        """Says once why drafts are not kept, until one is."""
        reason = error.strerror or str(error)
        if reason != self._refusal:
            self._refusal = reason
            self._prompt.warn_of_disk(f"The draft could not be saved: {reason}.")

    def _warn(self, text: str) -> None:
        self._prompt.notify(text, severity="warning", markup=False)
