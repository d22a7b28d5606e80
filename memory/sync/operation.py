"""Operations: what changed on a device, in a form that gives the same result in any order and any number of times.

An entry is never changed once it is there. A title or a label holds the value of its highest clock. A deletion stays.
A version of a note names those that it was made from.
"""

from typing import Any

from msgspec import Struct

from memory.cold.note_lines import PackedLines
from memory.cold.sync_values import ValueKeys


class ConversationKey(Struct, frozen=True, array_like=True):
    """Which conversation an operation belongs to, and what makes it where it is not there yet."""

    source: str
    id: str
    kind: str
    created_ms: int


class EntryOperation(Struct, frozen=True, kw_only=True, tag="entry"):
    """An entry. `text` is UTF-8 with surrogatepass. In `meta` of a summary, entries are named by their ids."""

    conversation: ConversationKey
    id: str
    parent: str
    """The id of the entry above it; "" for a root."""
    kind: str
    role: str
    speaker: str
    time_ms: int
    text: bytes
    meta: dict[str, Any]
    complete: bool


class ValueOperation(Struct, frozen=True, kw_only=True, tag="value", omit_defaults=True):
    """A title (`field` is "") or a label that was set; `value` None: the label was taken away. `heard`: the forgettings
    of the conversation's title, or of its labels, that its writer knew."""

    conversation: ConversationKey
    field: str
    value: bytes | None
    clock: int
    device: str
    heard: tuple[int, ...] = ()


class DeletionOperation(Struct, frozen=True, kw_only=True, tag="deletion"):
    """A conversation that was deleted: the hash of its source and id (memory.cold.deletions)."""

    token: str
    deleted_ms: int


class ForgettingOperation(Struct, frozen=True, kw_only=True, tag="forgetting"):
    """An entry that was forgotten: the hash of its name."""

    token: str
    forgotten_ms: int


class ForgottenNamesOperation(Struct, frozen=True, kw_only=True, tag="names"):
    """A forgetting of a conversation's title, or of labels of it: who had not heard of it set none that holds.
    `dropped`: the labels that held the words."""

    conversation: ConversationKey
    labels: bool
    forgetting: int
    dropped: ValueKeys = ()


class NoteOperation(Struct, frozen=True, kw_only=True, tag="note", omit_defaults=True):
    """A version of a note file, made from the versions `parents`. A deleted file is an empty one. `forgotten`: its
    lines that were forgotten on any device, which are empty (memory.cold.note_lines)."""

    id: str
    path: str
    parents: tuple[str, ...]
    text: bytes
    clock: int
    device: str
    forgotten: PackedLines = ()
    heard: tuple[int, ...] = ()
    """The forgettings that its device had heard of."""
    renamed: int = 0
    """The forgetting that gave it another path than it was written under (memory.cold.note_names)."""


Operation = (
    EntryOperation | ValueOperation | DeletionOperation | ForgettingOperation | ForgottenNamesOperation | NoteOperation
)
