"""Types of the archive: texts of entries and pages, rows, estimates and results."""

from collections.abc import Callable, Sequence
from datetime import datetime

from msgspec import Struct

from foundation.trust import Trust
from memory.pages.render.entry_heads import ParsedHead

STORED = "stored"
"""The engine of a text that was not read from pixels: it stands somewhere as text."""

OnPage = Callable[[int], None]
"""Progress callback: the count of finished pages, from the working thread. What it raises ends the work; nothing is
archived or deleted then."""


def numbered(noun: str, numbers: Sequence[int]) -> str:
    """The noun with numbers in ascending order: `page 5`, `pages 5, 7 to 9 and 12`."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    words = [word for run in runs for word in ([f"{run[0]:,} to {run[-1]:,}"] if len(run) > 2 else map(str, run))]
    listed = f"{', '.join(words[:-1])} and {words[-1]}" if len(words) > 1 else words[0]
    return f"{noun}{'s' if len(numbers) > 1 else ''} {listed}"


class EntryText(Struct, frozen=True):
    """An entry's whole text. `pages` are the ids of the pages that it was read from; none for stored text.

    `warnings` gives the reasons, in sentences, why it is not exact.
    """

    text: str
    trust: Trust
    pages: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


class PageText(Struct, frozen=True, kw_only=True):
    """The text of one page. `doubt` are its lines, from 1, that may be wrong.

    `engine` is the reader: `cells`, `nearest`, an OCR engine's name, or two joined by `+`, the second of which agrees.
    """

    text: str
    trust: Trust
    engine: str
    read_ms: float
    doubt: tuple[int, ...] = ()
    page_id: str = ""  # "" where the page's header is damaged
    number: int = 0  # from 1 within its archive
    label: str = ""  # "" where the page was read from a picture alone
    heads: tuple[ParsedHead, ...] = ()  # the lines that say whose words follow; none on a file's page
    warnings: tuple[str, ...] = ()  # sentences of the readers: what disagrees, what was cut off


class PageRow(Struct, frozen=True, kw_only=True):
    """A page in the archive.

    `text_tokens` are of its text without generated lines, by the tokenizer that `ArchiveResult` names; `vision_tokens`
    are the cost of its picture by the archive's profile.
    """

    id: str
    archive: int  # ArchiveRow.seq
    number: int
    mode: str
    width: int  # pixels
    height: int
    chars: int
    sha256: str  # of the page's text, hex
    pack: str
    position: int  # within the pack, from 0
    text_tokens: int
    vision_tokens: int
    cell: str = "8x16"  # or 6x12
    factsheet: tuple[str, ...] = ()  # its exact tokens (hashes, numbers, paths, names), as text
    verified: bool = True  # no page gets a row before it was read back and compared

    @property
    def ratio(self) -> float:
        """Text tokens per vision token."""
        return round(self.text_tokens / self.vision_tokens, 2)


class ArchiveRow(Struct, frozen=True, kw_only=True):
    """One archiving run."""

    seq: int
    label: str
    created: datetime
    origin: str  # file | conversation | knowledge
    pages: int
    text_tokens: int = 0  # of the words on its pages
    vision_tokens: int = 0
    tags: tuple[str, ...] = ()
    pinned: bool = False
    conversation: int | None = None  # the seq of the conversation whose text it is; None where it is kept for itself


class ArchiveEstimate(Struct, frozen=True, kw_only=True):
    """The expected result of archiving, from the same layout and the same counts as the archiving itself."""

    pages: int
    text_tokens: int
    vision_tokens: int
    shared_chars: int


class ArchiveResult(Struct, frozen=True, kw_only=True):
    """The result of archiving. Tokens are of the context that pages save, never of disk space."""

    seq: int  # ArchiveRow.seq
    label: str
    pages: tuple[PageRow, ...]
    text_tokens: int
    vision_tokens: int
    tokenizer: str
    profile: str
    shared_chars: int = 0  # of the text stood on pages already, and was not drawn again

    @property
    def ratio(self) -> float:
        """Text tokens per vision token."""
        return round(self.text_tokens / self.vision_tokens, 2) if self.vision_tokens else 0.0
