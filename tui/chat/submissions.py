"""What becomes of a text that is entered: it is handled, waits, goes into the running answer, or runs beside it."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from agent.commands import registry
from agent.message_queue import MessageQueue, QueuedMessage
from foundation.terminal_text import visible_line
from tui.widgets.prompt.prefixes import SHELL, line_beside, prefixed
from tui.widgets.status import clip

if TYPE_CHECKING:  # loaded after first paint
    from tui.chat.controller import ChatController

MAX_SHOWN: Final = 3  # waiting messages that are shown
WAITS, STEERS, ANSWERS = "queued: ", "sent at the next step: ", "queued until the answer ends: "
KEYS, COMMAND_KEYS = "↑ edits the last one · Ctrl+S sends the queue now", "↑ edits it · Esc stops the answer"


class Submissions:
    """Hands what is entered to the queue of one chat."""

    def __init__(
        self,
        queue: MessageQueue,
        controller: "Callable[[], ChatController | None]",
        run_beside: Callable[[str], object],
    ) -> None:
        """`controller` gives None before the session is open; `run_beside` runs a command beside an answer."""
        self._queue = queue
        self._controller = controller
        self._run_beside = run_beside
        self._taken_back = 0  # the id of the message that came back into the prompt; 0 for none

    def enter(self, text: str, pastes: tuple[str, ...] = (), *, steers: bool = False) -> None:
        """Takes what was entered. `steers`: into the running turn, where it is a message. A message that was taken back
        brings along those that were queued before it.
        """
        controller = self._controller()
        if controller is not None and self._queue.busy:
            own = prefixed(text)
            is_shell = own is not None and own.kind == SHELL and controller.is_answering
            if line := text if is_shell else line_beside(text):
                self._run_beside(line)
                return
        is_message = prefixed(text) is None and not registry.is_command(text)
        if steers and is_message:
            self._steer_before(self._taken_back)
        self._taken_back = 0
        self._queue.add(text, pastes=pastes, steers=steers and is_message)
        if steers and controller is not None:
            controller.session.steer()

    def steer_waiting(self) -> None:
        """Has the messages that wait go into the running turn, up to the first that is none."""
        self._steer_before(self._queue.accepted + 1)
        if controller := self._controller():
            controller.session.steer()

    def _steer_before(self, id_: int) -> None:
        """Has the messages steer that were queued before this one, up to the first that is none."""
        for message in self._queue.waiting:
            if message.steers:
                continue
            if message.id >= id_ or message.entry is not None or _is_command(message):
                break
            self._queue.remove(message.id)
            self._queue.add(message.text, message.skill, pastes=message.pastes, steers=True)

    def take_back(self) -> str:
        """Removes the last message that waits, for editing; gives its text, or "" where none waits."""
        for message in reversed(self._queue.waiting):
            if message.entry is None and self._queue.remove(message.id):
                self._taken_back = message.id
                return message.text
        return ""

    def forget_taken_back(self) -> None:
        """Called when the prompt was emptied: what is written next is another message."""
        self._taken_back = 0

    def texts(self) -> list[str]:
        """What would be lost if the program ended now."""
        controller = self._controller()
        taken = controller.taken if controller else ()
        return [*taken, *(message.text for message in self._queue.waiting if message.entry is None)]


def waiting_lines(messages: Sequence[QueuedMessage], width: int, *, busy: bool) -> list[str]:
    """The messages that wait, a line each with what will happen, and the keys for them while an answer is written."""
    shown = [_what_happens(message, busy=busy) + visible_line(message.text) for message in messages[:MAX_SHOWN]]
    lines = [clip(line, width) for line in shown]
    more = [f"and {len(messages) - MAX_SHOWN} more"] if len(messages) > MAX_SHOWN else []
    if not messages or not busy:
        return [*lines, *more]
    keys = KEYS.partition(" · ")[0] if all(message.steers for message in messages) else KEYS
    return [*lines, *more, clip(COMMAND_KEYS if all(map(_is_command, messages)) else keys, width)]


def _what_happens(message: QueuedMessage, *, busy: bool) -> str:
    if message.steers:
        return STEERS
    return ANSWERS if busy and _is_command(message) else WAITS


def _is_command(message: QueuedMessage) -> bool:
    """Whether it cannot steer: a command of the chat or a line for the shell."""
    return prefixed(message.text) is not None or registry.is_command(message.text)
