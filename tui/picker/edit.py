"""What is typed in the picker's field: another title, a label, the file of an export."""

from typing import TYPE_CHECKING, ClassVar

from agent.exporters import FileExists
from agent.services.conversation_tree import TurnNode
from foundation.errors import PalimpsestError
from memory.records import Conversation
from tui.picker import changes

if TYPE_CHECKING:
    from memory.memory import Memory


class EditField:
    """One edit. `begins_with` is the text that the field begins with, `sentence` stands above it."""

    keys: ClassVar[tuple[str, ...]] = ()
    begins_with = ""
    sentence = ""

    def keep(self, text: str) -> str:
        """Makes the change; gives a sentence about it. Blocks. Raises PalimpsestError."""
        raise NotImplementedError

    def advice(self, problem: PalimpsestError) -> str:
        """What is said about a change that failed."""
        return f"{problem.message} {problem.hint}".strip()


class RenameField(EditField):
    """Another title for a conversation."""

    keys = ("Enter renames", "Esc keeps the old title")
    sentence = "New title:"

    def __init__(self, memory: "Memory", conversation: Conversation) -> None:
        self._memory, self._conversation = memory, conversation
        self.begins_with = conversation.title

    def keep(self, text: str) -> str:
        return changes.rename(self._memory, self._conversation, text)


class LabelField(EditField):
    """A label for a turn."""

    keys = ("Enter saves the label; an empty one removes it", "Esc cancels")
    sentence = "Label for this turn:"

    def __init__(self, memory: "Memory", conversation: Conversation, turn: TurnNode) -> None:
        self._memory, self._conversation, self._turn = memory, conversation, turn
        self.begins_with = turn.label

    def keep(self, text: str) -> str:
        return changes.label(self._memory, self._conversation, self._turn, text)


class ExportField(EditField):
    """The file of an export. A file that is there is overwritten when the same name is given once more."""

    keys = ("Enter saves: .md to read, .jsonl with all branches to import again", "Esc cancels")

    def __init__(self, memory: "Memory", conversation: Conversation) -> None:
        self._memory, self._conversation = memory, conversation
        self.begins_with = changes.offered_name(conversation)
        self.sentence = f"File (a relative path is in {memory.workspace.root}):"
        self._refused: str | None = None

    def keep(self, text: str) -> str:
        confirmed, self._refused = text == self._refused, text
        done = changes.export(self._memory, self._conversation, text, overwrite=confirmed)
        self._refused = None
        return done

    def advice(self, problem: PalimpsestError) -> str:
        if isinstance(problem, FileExists):
            return f"{problem.message} Enter overwrites it; another name keeps it."
        self._refused = None
        return super().advice(problem)
