"""Texts too large for a request: pasted ones become attachments, and attachments are archived as pages.

It happens before the message is stored and searched for, so that the message's own search finds their passages.
"""

from collections.abc import Callable, Collection, Sequence
from datetime import datetime
from typing import Final, cast

from msgspec.structs import replace

from agent.turn.ports import SMALL, TurnInput
from context import AssembledRequest, Attachment
from context.errors import RequestTooLarge
from foundation.clock import Clock
from foundation.errors import PalimpsestError
from foundation.privacy import Cleared, TextSource, clear
from memory.memory import Memory
from memory.records import Entry
from models.excerpts import placeholder

EXCERPT: Final = 300  # characters of a message's beginning and end that stay in it where the rest is attached
ARCHIVES: Final = "archives"
"""Meta of a message: the conversations that hold its archived attachments, `["c_4kx7m2p0q9ab"]`."""


def archives_of(entry: Entry) -> tuple[str, ...]:
    """The conversations (ids) that hold the message's archived attachments. Imported metadata may hold anything."""
    value: object = entry.meta.get(ARCHIVES)
    return tuple(id_ for id_ in cast("list[object]", value) if isinstance(id_, str)) if isinstance(value, list) else ()


class LargeTexts:
    """Archives into a workspace's memory. `preview` assembles the request of a message, without recall."""

    def __init__(
        self,
        preview: Callable[[TurnInput], AssembledRequest],
        memory: Memory,
        clock: Clock,
        earlier: Callable[[], Collection[str]],
    ) -> None:
        """`earlier` gives the archives (ids of conversations) of earlier messages of the conversation."""
        self._preview = preview
        self._memory = memory
        self._clock = clock
        self._earlier = earlier

    def fold(self, message: TurnInput) -> tuple[TurnInput, tuple[Attachment, ...]]:
        """The message, with parts of it attached where it does not fit, and the attachments to archive."""
        try:
            assembled, folded = self._fitting(message)
        except PalimpsestError:  # it fits no window, or a file is no text: reported when the message was stored
            return message, ()
        return folded, tuple(file for file in folded.attachments if file.pasted or file.name in assembled.shortened)

    def _fitting(self, message: TurnInput) -> tuple[AssembledRequest, TurnInput]:
        """The message with as few parts attached as it takes to fit. Raises RequestTooLarge."""
        parts = sorted({text for text in message.pastes if len(text) > SMALL}, key=len, reverse=True)
        folded = message
        while True:
            try:
                return self._preview(folded), folded
            except RequestTooLarge:
                part = next((text for text in parts if text in folded.text), None) or _middle(folded)
                if part is None or not _is_separable(part, folded.text):
                    raise
                folded = self._attach(folded, part)

    def _attach(self, message: TurnInput, part: str) -> TurnInput:
        name = _name_of(self._clock.now().astimezone(), {file.name for file in message.attachments})
        before, _, after = message.text.partition(part)
        text = before + (" " * (before[-1:] not in {"", " ", "\n"})) + placeholder(name, part)
        text += " " * (after[:1] not in {"", " ", "\n"}) + after
        attachment = Attachment(name, "text/plain", part.encode("utf-8", "replace"), pasted=True)
        return replace(
            message,
            text=text,
            whole=message.whole or message.text,
            attachments=(*message.attachments, attachment),
        )

    def archive(
        self, message: TurnInput, attachments: Sequence[Attachment], is_stopped: Callable[[], bool]
    ) -> tuple[TurnInput, list[str]]:
        """Archives the attachments; the message with their references, and a sentence for each that failed.

        Raises PalimpsestError and OSError where a pasted text cannot be archived.
        """
        refs: dict[int, str] = {}
        archives: list[str] = []
        troubles: list[str] = []
        for attachment in attachments:
            try:
                refs[id(attachment)], conversation = self._archived(attachment, is_stopped)
                archives += [conversation] if conversation else []
            except (PalimpsestError, OSError) as error:
                if attachment.pasted:
                    raise
                troubles.append(f"{attachment.name} could not be archived: {_reason(error)}")
        files = tuple(replace(file, archive=refs.get(id(file), "")) for file in message.attachments)
        return replace(message, attachments=files, archives=tuple(archives)), troubles

    def _archived(self, attachment: Attachment, is_stopped: Callable[[], bool]) -> tuple[str, str]:
        """The archive's reference, and its conversation's id; "" for the latter where an earlier message has it."""
        text, label = clear(attachment.text, TextSource.OTHER), clear(attachment.name)
        if seq := self._earlier_archive(text):
            return f"#{seq}", ""

        def stop(_pages: int) -> None:
            if is_stopped():
                raise ArchivingStopped("Stopped", "The archiving was stopped.")

        memory = self._memory
        archived = memory.vault.archive_text(text, label=label, on_page=stop)
        row = memory.vault.find_archive(archived.seq)
        conversation = memory.conversations.at(row.conversation).id if row.conversation is not None else ""
        return f"#{archived.seq}", conversation

    def _earlier_archive(self, text: Cleared) -> int | None:
        """The archive of the same text, whatever its name, that an earlier message of the conversation has."""
        vault = self._memory.vault
        ids = self._earlier()
        for row in vault.archives() if ids else ():
            if row.conversation is not None and self._id_of(row.conversation) in ids:
                pages = vault.pages(row.seq)
                is_same = sum(page.chars for page in pages) == len(text)
                if is_same and "".join(vault.exact_text(page) or "" for page in pages) == text:
                    return row.seq
        return None

    def _id_of(self, conversation: int) -> str:
        return self._memory.conversations.at(conversation).id


class ArchivingStopped(PalimpsestError):
    """The person stopped the archiving."""

    code = "stopped"


def _middle(message: TurnInput) -> str | None:
    """The text without its beginning and end, where a question may stand; None where it is too short for that."""
    text = message.text
    if len(text) <= SMALL:
        return None
    begin = text.rfind("\n", 0, EXCERPT) + 1
    end = text.find("\n", len(text) - EXCERPT)
    return text[begin : end if end >= 0 else len(text)] or None


def _is_separable(part: str, whole: str) -> bool:
    """Whether the part alone hides the same as within the message: no private span or secret crosses its ends."""
    cleared = clear(part)
    return cleared == clear(part, TextSource.OTHER) and cleared in clear(whole)


def _name_of(now: datetime, taken: set[str]) -> str:
    name = f"Pasted text {now:%Y-%m-%d %H:%M}"
    number = 1
    while (unique := name if number == 1 else f"{name} ({number})") in taken:
        number += 1
    return unique


def _reason(error: PalimpsestError | OSError) -> str:
    return str(error.message if isinstance(error, PalimpsestError) else error.strerror or error)
