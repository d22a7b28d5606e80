"""Steering from a message queue: the port through which a turn takes the messages that steer it."""

from collections.abc import Callable
from functools import reduce
from pathlib import Path

from agent.message_queue import MessageQueue
from agent.services.outside_files import AttachingSession, permitted_attachments
from agent.turn.ports import TurnInput
from models.excerpts import paste_placeholder


class QueueSteering:
    """Implements agent.turn.ports.SteeringPort. The queue keeps the messages until the turn takes them."""

    def __init__(
        self,
        queue: MessageQueue,
        here: Path,
        on_take: Callable[[TurnInput], None],
        session: AttachingSession,
        on_refusal: Callable[[str], None],
    ) -> None:
        """Relative names of files are resolved in `here`. `on_take` gets the message that the turn goes on with,
        `on_refusal` a sentence for each file that it is not permitted to attach.
        """
        self._session = session
        self._on_refusal = on_refusal
        self._queue = queue
        self._here = here
        self._on_take = on_take

    @property
    def waits(self) -> bool:
        return bool(self._queue.steering)

    async def take(self) -> TurnInput | None:
        """All that wait, as one message: two of the user's in a row would need an answer between them.

        Raises PalimpsestError for a file that cannot be attached; the messages wait on then.
        """
        while messages := self._queue.steering:
            text = "\n\n".join(message.text for message in messages)
            pastes = tuple(paste for message in messages for paste in message.pastes)
            files, refusals = await permitted_attachments(self._session, without_pastes(text, pastes), self._here)
            if self._queue.steering == messages:  # else one came, was edited or taken back meanwhile
                self._queue.take_steering()
                skill = next((message.skill for message in messages if message.skill), "")
                taken = TurnInput(text, tuple(files), skill, pastes=pastes, steers=True)
                self._on_take(taken)
                for sentence in refusals:
                    self._on_refusal(sentence)
                return taken
        return None


def without_pastes(text: str, pastes: tuple[str, ...]) -> str:
    """The text with a placeholder for each paste: a paste names no files."""
    return reduce(lambda message, paste: message.replace(paste, paste_placeholder(paste), 1), pastes, text)
