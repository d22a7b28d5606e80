"""What is told of an answer that streams while the disk refuses it, and of one that ended so."""

from typing import Final

from agent.events import Notice
from agent.turn.recorder import AnswerRecorder
from memory.errors import StoreBusy, StoreFull

FULL: Final = "The disk is full: this answer is not saved until there is free space."
REFUSED: Final = "Disk error: this answer is not saved until the disk can be written."
STORED: Final = "The answer is now saved."


class AnswerNotStored(StoreFull):
    """An answer ended on a full disk. It is kept in memory, and stored once there is room (AnswerJob)."""


class StorageNotices:
    """Says once that the answer is not stored as it streams, and once that it is again."""

    def __init__(self, recorder: AnswerRecorder) -> None:
        self._recorder = recorder
        self._is_told = False

    def take(self) -> tuple[Notice, ...]:
        """The notice that is due: call it after each event of the model, and when the answer is stored."""
        trouble = None if self._recorder.settled else self._recorder.trouble
        if isinstance(trouble, StoreBusy):  # the next write waits for the other program
            trouble = None
        if (trouble is not None) == self._is_told:
            return ()
        self._is_told = trouble is not None
        if trouble is None:
            return (Notice("info", STORED),)
        return (Notice("warning", FULL if isinstance(trouble, StoreFull) else REFUSED),)
