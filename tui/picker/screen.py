"""The picker: what its keys do with the chosen conversation or turn."""

import asyncio
from collections.abc import Callable
from typing import ClassVar

from textual import events, work
from textual.binding import BindingType

from foundation.errors import PalimpsestError
from memory.records import Conversation
from tui.internal_errors import internal_error
from tui.picker.browser import PickerBrowser, PickerChoice, PickerSource
from tui.picker.edit import EditField, ExportField, LabelField, RenameField
from tui.picker.keys import LIST_ACTIONS, PICKER_KEYS
from tui.picker.level import PickerLevel
from tui.picker.turns import TurnLevel
from tui.typed_app import app_of
from tui.widgets.query_input import QueryInput


class PickerScreen(PickerBrowser):
    """Begins with the list of conversations, or with the turns of one. Gives what the chat does next."""

    BINDINGS: ClassVar[list[BindingType]] = PICKER_KEYS

    def __init__(self, source: PickerSource, level: PickerLevel | None = None, query: str = "") -> None:
        super().__init__(source, level, query)
        self._is_deleting = False
        self._sentences: list[str] = []  # for the chat

    # Keys

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """What is edited has its keys, and a query its arrows."""
        if self._edit is not None:
            return action in {"leave", "close", "take"} or action not in LIST_ACTIONS
        if action in {"into", "out"}:
            field = self.query_one("#filter", QueryInput)
            return field.cursor_position == (len(field.value) if action == "into" else 0)
        return True

    def action_take(self) -> None:
        self.take()

    def take(self) -> None:
        if self._edit is not None:
            self._keep_edit(self._edit)
        elif self._is_deleting or self.conversation is None:
            self.action_fold()
        elif isinstance(self.level, TurnLevel):
            if (turn := self.turn) is None:
                self.action_fold()
            else:
                self._go("/branch" if self.level.rewrites else "/tree go", turn.id)
        else:
            listed = self.conversation
            self._close(() if self._is_open(listed) else (f"/resume {listed.id}",))

    def _go(self, command: str, id_: str) -> None:
        """Runs a command on a turn, in its conversation."""
        assert isinstance(self.level, TurnLevel)
        resume = () if self._is_open(self.level.of) else (f"/resume {self.level.of.id}",)
        self._close((*resume, f"{command} {id_}"))

    def _is_open(self, conversation: Conversation) -> bool:
        return self._source.opened is not None and conversation.seq == self._source.opened.seq

    def action_into(self) -> None:
        if (found := self.conversation) is None or isinstance(self.level, TurnLevel):
            self._fold(folded=False)
        else:
            self._enter_level(TurnLevel(self._source.memory, found, self._source.files_of))

    def action_out(self) -> None:
        if isinstance(self.level, TurnLevel):
            self._enter_level(self._conversations, str(self.level.of.seq))
        else:
            self._fold(folded=True)

    def action_fold(self) -> None:
        self._fold(folded=None)

    def _fold(self, *, folded: bool | None) -> None:
        chosen = self._list.chosen
        if chosen is not None and self.level.fold(chosen, folded=folded):
            self.reload(self.level.heading_of(chosen))

    def action_hidden(self) -> None:
        self.level.toggle_hidden()
        self.reload(self._key)

    def action_branch(self) -> None:
        if self.turn is not None:
            self._go("/branch", self.turn.id)

    def action_compare(self) -> None:
        """Marks the first turn; with another one marked, shows both branches."""
        level, turn = self.level, self.turn
        if not isinstance(level, TurnLevel) or turn is None:
            return
        if not level.marked or level.marked == turn.id:
            level.marked = "" if level.marked else turn.id
            self._say_about()
            self._list.refresh()
            return
        from tui.picker.comparison import comparison_screen

        marked, level.marked = level.marked, ""
        self._say_about()
        self._list.refresh()
        app_of(self).push_screen(comparison_screen(self._source.memory, level, marked, turn.id))

    # Changes

    def action_name(self) -> None:
        if (turn := self.turn) is not None and isinstance(self.level, TurnLevel):
            self._begin_edit(LabelField(self._source.memory, self.level.of, turn))
        elif self.conversation is not None and not isinstance(self.level, TurnLevel):
            self._begin_edit(RenameField(self._source.memory, self.conversation))

    def action_export(self) -> None:
        if self.conversation is not None:
            self._begin_edit(ExportField(self._source.memory, self.conversation))

    def _begin_edit(self, edit: EditField) -> None:
        self._edit = edit
        field = self.query_one("#picker-field", QueryInput)
        field.value, field.display = edit.begins_with, True
        field.focus()
        field.cursor_position = len(field.value)
        self.say(edit.sentence)
        self._show_keys()

    def _end_edit(self) -> None:
        self._edit = None
        self.query_one("#picker-field").display = False
        self.query_one("#filter").focus()
        self.say("")
        self._show_keys()

    def _keep_edit(self, edit: EditField) -> None:
        text = self.query_one("#picker-field", QueryInput).value
        self._change(lambda: edit.keep(text), edit)

    def action_prune(self) -> None:
        from tui.picker.changes import prune

        if (turn := self.turn) is not None and isinstance(self.level, TurnLevel):
            conversation = self.level.of
            self._change(lambda: prune(self._source.memory, conversation, turn))

    @work(exclusive=True, group="change")
    async def _change(self, change: Callable[[], str], edit: EditField | None = None) -> None:
        """Makes a change in a thread and shows what was done; the edit stays open where it failed."""
        try:
            done = await asyncio.to_thread(change)
        except (PalimpsestError, OSError) as error:
            problem = error if isinstance(error, PalimpsestError) else internal_error(error)
            self.say(edit.advice(problem) if edit else f"{problem.message} {problem.hint}".strip(), wrong=True)
            return
        if edit is not None:
            self._end_edit()
        self.say(done)
        if isinstance(self.level, TurnLevel):
            self.level.reload()
        self.reload(self._key)

    def action_delete(self) -> None:
        if isinstance(self.level, TurnLevel):
            self.say("Turns cannot be deleted. Ctrl+X hides a turn; ← then Ctrl+D deletes the conversation.")
        elif self.conversation is not None and not self._is_deleting:
            self._delete(self.conversation)

    @work(group="change")
    async def _delete(self, conversation: Conversation) -> None:
        from agent.services.conversation_deletion import delete_conversation, deletion_preview
        from tui.dialogs.confirm import YesScreen

        name, memory = f"“{conversation.title or 'untitled'}”", self._source.memory
        if self._is_open(conversation) and self._source.is_answering():
            self.say("An answer is in progress in it. Stop it or wait, then delete the conversation.", wrong=True)
            return
        try:
            rows = await asyncio.to_thread(deletion_preview, memory, conversation)
            dialog = YesScreen(f"Delete {name}?", rows, "deletes it permanently")
            if not await app_of(self).push_screen_wait(dialog):
                return
            self._is_deleting = True
            self.say(f"deleting {name} …")
            report = await asyncio.to_thread(delete_conversation, memory, conversation, self._source.locations)
        except (PalimpsestError, OSError) as error:
            problem = error if isinstance(error, PalimpsestError) else internal_error(error)
            self.say(f"{name} was not deleted. {problem.message} {problem.hint}".strip(), wrong=True)
            return
        finally:
            self._is_deleting = False
        self._sentences += [f"Deleted {name}.", *report.sentences]
        if self._is_open(conversation):
            self._close(("/new",))
            return
        chosen = (self._list.chosen or 0) + 1
        self.say(" ".join([f"Deleted {name}.", *report.sentences]))
        self.reload(self.level.key(chosen) if chosen < self.level.count else self._key)

    # Leaving

    def on_paste(self, event: events.Paste) -> None:
        event.stop()

    def action_leave(self) -> None:
        field = self.query_one("#filter", QueryInput)
        if self._edit is not None:
            self._end_edit()
        elif field.value:
            field.value = ""
        elif isinstance(self.level, TurnLevel) and self._has_list:
            self.action_out()  # it was opened from the list
        else:
            self._close(())

    def action_close(self) -> None:
        self._close(())

    def _close(self, lines: tuple[str, ...]) -> None:
        if self._is_deleting:
            self.say("The conversation is being deleted. Please wait.")
        else:
            self.dismiss(PickerChoice(lines, tuple(self._sentences)))
