"""Queue of the messages that wait while an answer is being written. Every face of the agent uses it.

Messages that steer go first: the running turn may take them, and else they are handled like the others. One task
handles the messages in order, one at a time. When a turn fails or is stopped, the messages after it are returned
unsent: they were written for a conversation that took another course.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence

from msgspec import Struct, structs


class QueuedMessage(Struct, frozen=True, kw_only=True):
    """A message or a slash command. With `entry`, a request to show this stored entry (its seq), matched by `text`.

    `pastes` are the pasted parts of `text`. `steers`: the running turn may take it.
    """

    id: int
    text: str
    skill: str = ""
    entry: int | None = None
    pastes: tuple[str, ...] = ()
    steers: bool = False


Handler = Callable[[QueuedMessage], Awaitable[bool]]
"""Handles one message; returns False where its turn failed or was stopped."""


class MessageQueue:
    """`add` may be called from anywhere on the event loop; one task calls `run` or `drain`."""

    def __init__(
        self,
        *,
        on_change: Callable[[], None] = lambda: None,
        on_return: Callable[[list[str]], None] = lambda _texts: None,
    ) -> None:
        """`on_change` is called when `waiting` or `busy` changed, `on_return` with the texts of returned messages."""
        self._waiting: deque[QueuedMessage] = deque()
        self._added = asyncio.Event()
        self._on_change = on_change
        self._on_return = on_return
        self.busy = False  # whether a message is being handled
        self.accepted = 0  # messages added so far

    @property
    def waiting(self) -> Sequence[QueuedMessage]:
        """The messages that are not handled yet, oldest first."""
        return tuple(self._waiting)

    @property
    def steering(self) -> Sequence[QueuedMessage]:
        """Those of them that steer, oldest first."""
        return tuple(message for message in self._waiting if message.steers)

    @property
    def is_idle(self) -> bool:
        return not (self.busy or self._waiting)

    def add(
        self,
        text: str,
        skill: str = "",
        *,
        entry: int | None = None,
        pastes: tuple[str, ...] = (),
        steers: bool = False,
    ) -> QueuedMessage:
        """Adds a message, after those of its kind, and returns it with its id."""
        self.accepted += 1
        message = QueuedMessage(id=self.accepted, text=text, skill=skill, entry=entry, pastes=pastes, steers=steers)
        self._waiting.insert(len(self.steering) if steers else len(self._waiting), message)
        self._added.set()
        self._on_change()
        return message

    def edit(self, message_id: int, text: str) -> bool:
        """Replaces the text of a waiting message, which keeps its place. False where it waits no longer."""
        for index, message in enumerate(self._waiting):
            if message.id == message_id:
                self._waiting[index] = structs.replace(message, text=text)
                self._on_change()
                return True
        return False

    def remove(self, message_id: int) -> QueuedMessage | None:
        """Removes a waiting message and returns it; None where it waits no longer."""
        for message in self._waiting:
            if message.id == message_id:
                self._waiting.remove(message)
                self._on_change()
                return message
        return None

    def take_steering(self) -> Sequence[QueuedMessage]:
        """Removes the messages that steer and returns them."""
        if taken := self.steering:
            self._waiting = deque(message for message in self._waiting if not message.steers)
            self._on_change()
        return taken

    def return_unsent(self) -> list[str]:
        """Empties the queue; reports the texts to `on_return` and gives them, oldest first."""
        texts = [message.text for message in self._waiting if message.entry is None]
        if self._waiting:
            self._waiting.clear()
            self._on_change()
        if texts:
            self._on_return(texts)
        return texts

    async def run(self, handler: Handler) -> None:
        """Handles messages until it is cancelled."""
        while True:
            await self._added.wait()
            self._added.clear()
            await self.drain(handler)

    async def drain(self, handler: Handler) -> None:
        """Handles messages until none waits. What the handler raises is raised here, with the rest returned unsent."""
        while self._waiting:
            message = self._waiting.popleft()
            self.busy = True
            self._on_change()
            answered = False
            try:
                answered = await handler(message)
            finally:
                self.busy = False
                if not answered:
                    self.return_unsent()
                self._on_change()
