"""Page costs: tokens of the text, of the image and of the exact tokens beside it; storage options of archived files."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from msgspec import Struct

from memory.archive.write.dedup import ComposedEntry
from memory.pages.cost.profiles import profile_named
from memory.pages.render.layout import LayoutSpan
from memory.pages.types import PageRow
from memory.settings import ArchiveSettings

if TYPE_CHECKING:  # its module loads numpy
    from memory.archive.write.page_writer import PackedPage

CountTokens = Callable[[str], int]
NOTHING_COMPOSED: Mapping[int, ComposedEntry] = {}


class PageCosts:
    """Counts by one tokenizer and one render profile. Raises Misuse for an unknown profile."""

    def __init__(self, settings: ArchiveSettings, count: CountTokens | None, tokenizer: str) -> None:
        self.profile = settings.profile
        self.tokenizer = tokenizer
        self._count = count

    @cached_property
    def count(self) -> CountTokens:
        """Number of tokens of a text."""
        if self._count is not None:
            return self._count
        from memory.pages.cost.text_tokens import estimate_tokens  # it loads numpy

        return estimate_tokens

    def picture(self, mode: str) -> int:
        """Vision tokens of a page of that mode, by the profile."""
        return profile_named(self.profile).tokens(mode)

    def words(
        self, text: str, laid: Iterable[LayoutSpan], composed: Mapping[int, ComposedEntry] = NOTHING_COMPOSED
    ) -> int:
        """Tokens of the page's own text: without head lines, and without lines that refer to text elsewhere."""
        return sum(self.count(words) for words in _own_words(text, laid, composed))

    def row(self, page: "PackedPage", composed: Mapping[int, ComposedEntry] = NOTHING_COMPOSED) -> PageRow:
        """The page's row, without its archive. `composed` has the drawn form of each entry, by key."""
        return PageRow(
            id=page.id,
            archive=0,
            number=page.number,
            mode=page.mode.name,
            width=page.mode.side,
            height=page.mode.side,
            chars=len(page.text),
            sha256=page.sha256.hex(),
            pack=page.pack.name,
            position=page.position,
            text_tokens=self.words(page.text, page.laid, composed),
            vision_tokens=self.picture(page.mode.name),
            cell=page.mode.cell.name,
        )


def _own_words(text: str, laid: Iterable[LayoutSpan], composed: Mapping[int, ComposedEntry]) -> Iterator[str]:
    for span in laid:
        if span.key not in composed:
            yield text[span.page_start : span.page_start + span.length]
            continue
        for own in composed[span.key].own:
            begin, end = max(own.at, span.start), min(own.at + own.length, span.start + span.length)
            if begin < end:
                yield text[span.page_start + begin - span.start : span.page_start + end - span.start]


class FileArchiveOptions(Struct, frozen=True, kw_only=True):
    """`kind` is of the conversation that represents the file, `origin` of the archive.

    Without `keep_entry` its pages have no entries, and search does not find them.
    """

    keep_entry: bool = True
    kind: str = "archive"
    origin: str = "file"
