"""Builds the transcript's blocks, and reads the text behind each from the store.

A running turn and a resumed conversation show the same blocks.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Final, cast

import msgspec

from agent.events import Notice
from agent.services.turn_sentences import recalled_line
from context import Attachment
from foundation.figures import elapsed, short_count
from foundation.terminal_text import without_colours
from memory.errors import NotFound
from memory.records import Entry
from models.excerpts import Excerpt, paste_placeholder, split_excerpt
from models.messages import RecalledSpan, Role, Text
from models.recalled import by_relevance
from tui.widgets.transcript.block import CLOSED_MARK, Block, BlockExcerpt, BlockText, ReadBlock
from tui.widgets.transcript.diff_code import diff_rows
from tui.widgets.transcript.items import MutedLine, TranscriptItem, notice_line
from tui.widgets.transcript.recalled import RecalledLine, RecalledLines

if TYPE_CHECKING:
    from memory.memory import Memory

FindEntry = Callable[[], Entry]
"""Finds an entry in the store. Blocks; raises NotFound."""

MAX_CITED: Final = 3  # recalled passages that are listed at first
MAX_OPEN_DIFF: Final = 20  # lines of a diff that is shown without opening it
REASONING, REASONING_SECONDS, DIFF, PASTES = "reasoning", "reasoning_seconds", "diff", "pastes"
_OPENS: Final = "Press Ctrl+↑, then Enter, to open the messages."
_RECALLED: Final = "recalled  "


class StoredTexts:
    """Readers of the texts behind blocks."""

    def __init__(self, memory: "Memory") -> None:
        self.memory = memory

    def by_id(self, conversation: str, entry: str) -> FindEntry:
        """Finds an entry by the ids that an event gave."""

        def find() -> Entry:
            seq = self.memory.conversations.find(conversation).seq
            return self.memory.conversations.find_entry(entry, seq)

        return find

    def by_seq(self, seq: int) -> FindEntry:
        return lambda: self.memory.conversations.entry(seq)

    def result(self, find: FindEntry) -> ReadBlock:
        """A tool's whole output; of a change of files, its diff."""

        def read() -> BlockText:
            entry = find()
            diff = entry.meta.get(DIFF)
            if isinstance(diff, str) and diff:
                return BlockText(diff, "diff")
            return BlockText(without_colours(self._passage(entry).text))

        return read

    def whole(self, find: FindEntry) -> ReadBlock:
        """The entry's text."""
        return lambda: self._passage(find())

    def reasoning(self, find: FindEntry) -> ReadBlock:
        return lambda: BlockText(str(find().meta.get(REASONING, "")))

    def attachment(self, find: FindEntry, number: int) -> ReadBlock:
        """What the request held of the attachment with this number."""

        def read() -> BlockText:
            texts = list(attached_texts(find()))
            if number >= len(texts):
                raise NotFound("Not stored", "This attachment is not in the store.", "")
            return BlockText(texts[number][1])

        return read

    def paste(self, find: FindEntry, number: int) -> ReadBlock:
        """The pasted part of a message with this number."""

        def read() -> BlockText:
            entry = find()
            pastes = without_pastes(entry, self.memory.passage(entry).text)[1]
            if number >= len(pastes):
                raise NotFound("Not stored", "This part is not in the store.", "")
            return BlockText(pastes[number])

        return read

    def _passage(self, entry: Entry) -> BlockText:
        return BlockText(self.memory.passage(entry).text)


def attached_texts(entry: Entry) -> Iterator[tuple[str, str, Excerpt | None]]:
    """Of each text that went with the message: its name, the text as it was sent, and what of it that is."""
    for part in entry.sent:
        if isinstance(part, Text) and part.injected == "attachment":
            name, _, rest = part.text.partition("\n")
            yield name, *split_excerpt(rest)


def attachment_blocks(entry: Entry, texts: StoredTexts) -> list[Block]:
    """A block for each text that went with a stored message."""
    find = texts.by_seq(entry.seq)
    return [
        Block(
            key=f"attachment:{entry.id}:{number}",
            rows=(MutedLine(f"with {name}", prefix=CLOSED_MARK),),
            read=texts.attachment(find, number),
        )
        for number, (name, _, _) in enumerate(attached_texts(entry))
    ]


def excerpt_lines(entry: Entry) -> list[MutedLine]:
    """The notices of a stored message about texts that were not sent as a whole."""
    return [
        notice_line("info" if excerpt.ref else "warning", excerpt.sentence(name))
        for name, _, excerpt in attached_texts(entry)
        if excerpt
    ]


def sent_blocks(pastes: Sequence[str], attachments: Sequence[Attachment]) -> list[Block]:
    """A block for each paste and each text file of a message that is being sent."""
    pasted = [_pasted_block(f"sent:{id(pastes)}:{number}", paste, _given(paste)) for number, paste in enumerate(pastes)]
    files = [file for file in attachments if not file.is_picture]
    rows = [(MutedLine(f"with {file.name}", prefix=CLOSED_MARK),) for file in files]
    return pasted + [
        Block(key=f"attachment:{id(files)}:{number}", rows=row, read=_file_text(file))
        for number, (row, file) in enumerate(zip(rows, files, strict=True))
    ]


def without_pastes(entry: Entry, text: str) -> tuple[str, list[str]]:
    """A stored message with a placeholder for each pasted part, and these parts."""
    spans = _spans(entry.meta.get(PASTES), len(text))
    pastes = [text[start:end] for start, end in spans]
    for start, end in reversed(spans):
        text = text[:start] + paste_placeholder(text[start:end]) + text[end:]
    return text, pastes


def pasted_blocks(entry: Entry, pastes: Sequence[str], texts: StoredTexts) -> list[Block]:
    """A block for each pasted part of a stored message."""
    find = texts.by_seq(entry.seq)
    return [
        _pasted_block(f"{entry.id}:{number}", paste, texts.paste(find, number)) for number, paste in enumerate(pastes)
    ]


def _pasted_block(key: str, paste: str, read: ReadBlock) -> Block:
    row = MutedLine(paste_placeholder(paste).strip("[]"), prefix=CLOSED_MARK)
    return Block(key=f"paste:{key}", rows=(row,), read=read)


def _given(text: str) -> ReadBlock:
    return lambda: BlockText(text)


def _file_text(file: Attachment) -> ReadBlock:
    def read() -> BlockText:
        try:
            return BlockText(file.text)
        except UnicodeDecodeError as error:
            raise NotFound("Not text", f"{file.name} is not UTF-8 text.", "") from error

    return read


def _spans(stored: object, length: int) -> list[tuple[int, int]]:
    """The spans that are inside a text of this length, in order, none over another."""
    spans: list[tuple[int, int]] = []
    for value in cast("list[object]", stored) if isinstance(stored, list) else ():
        with suppress(msgspec.ValidationError):
            start, end = msgspec.convert(value, tuple[int, int])
            if (spans[-1][1] if spans else 0) <= start < end <= length:
                spans.append((start, end))
    return spans


def call_block(key: str, rows: Sequence[MutedLine], read: ReadBlock | None) -> Block:
    """A tool call: `rows` are its line and those of its result."""
    return Block(key=f"call:{key}", rows=tuple(rows), read=read)


def with_short_diff(block: Block, diff: object) -> Block:
    """The block of a change, open where its diff is short."""
    if not isinstance(diff, str) or not 0 < diff_rows(diff) <= MAX_OPEN_DIFF:
        return block
    return block.opened(BlockExcerpt.of(BlockText(diff, "diff")))


def reasoning_block(key: str, chars: int, seconds: float, read: ReadBlock) -> Block:
    """The reasoning of an answer: `thought for 12 s · 3.4k characters`. Whole seconds; under one they are left out."""
    whole = round(seconds * 1000) // 1000
    line = f"thought for {elapsed(whole)}" if whole else "thought"
    row = MutedLine(f"{line} · {short_count(chars)} characters", gap=True, prefix=CLOSED_MARK)
    return Block(key=f"reasoning:{key}", rows=(row,), read=read)


def stored_reasoning(entry: Entry, texts: StoredTexts) -> list[Block]:
    """The reasoning of a stored answer; none where it has none."""
    reasoning, seconds = entry.meta.get(REASONING), entry.meta.get(REASONING_SECONDS)
    if not isinstance(reasoning, str) or not reasoning:
        return []
    spent = float(seconds) if isinstance(seconds, int | float) else 0.0
    return [reasoning_block(entry.id, len(reasoning), spent, texts.reasoning(texts.by_seq(entry.seq)))]


def messages_block(notice: Notice, texts: StoredTexts) -> Block:
    """A notice about stored messages, which it opens to."""

    def read() -> BlockText:
        entries = [texts.memory.conversations.entry(seq) for seq in notice.entries]
        spoken = ((entry.role, texts.memory.passage(entry).text.strip()) for entry in entries)
        return BlockText("\n\n".join(f"{'❯' if role is Role.USER else '◆'} {text}" for role, text in spoken if text))

    row = MutedLine(f"{notice.text} {_OPENS}", tone="warning", gap=True, prefix=CLOSED_MARK)
    return Block(key=f"messages:{notice.entries[0]}", rows=(row,), read=read)


def receipt_block(key: str, text: str, read: ReadBlock | None) -> Block:
    """A receipt that opens to what it is about."""
    return Block(key=f"receipt:{key}", rows=(MutedLine(text, gap=True, prefix=CLOSED_MARK),), read=read)


def recalled_items(spans: Sequence[RecalledSpan]) -> list[TranscriptItem]:
    """The recalled passages, a line each, best first; those after the third open at a line that counts them.

    Passages that stand beside another are counted with it.
    """
    beside = Counter(span.beside for span in spans if span.beside)
    passages = [span for span in by_relevance(spans) if not span.beside]
    lines = [
        RecalledLine(
            MutedLine(
                recalled_line(span, beside[span.citation.ref]),
                gap=number == 0,
                prefix=" " * len(_RECALLED) if number else _RECALLED,
            ),
            span,
        )
        for number, span in enumerate(passages)
    ]
    shown, others = lines[:MAX_CITED], lines[MAX_CITED:]
    more = MutedLine(f"and {len(others)} more", prefix=CLOSED_MARK.rjust(len(_RECALLED)))
    return [*shown, *([RecalledLines(more, tuple(others))] if others else [])]
