"""What a page stands for and costs: tokens of its text, tokens of its picture, and the exact tokens beside it."""

from collections.abc import Callable
from functools import cached_property

from memory.archive.keep.binding import Bound
from memory.archive.passage import PageRow
from memory.settings import ArchiveSettings

Count = Callable[[str], int]


class Figures:
    """Counts by one tokenizer and one render profile. Raises Misuse for a profile that there is not."""

    def __init__(self, settings: ArchiveSettings, count: Count | None, tokenizer: str) -> None:
        self.profile = settings.profile
        self.tokenizer = tokenizer
        self._count = count

    @cached_property
    def count(self) -> Count:
        """How many tokens a text takes."""
        if self._count is not None:
            return self._count
        from models.tokens import estimate

        return estimate

    def picture(self, mode: str) -> int:
        """What a page of that mode costs the profile's reader."""
        from memory.archive.cost.profiles import profile_named

        return profile_named(self.profile).tokens(mode)

    def row(self, page: Bound, archive: int = 0) -> PageRow:
        """The page's row, its archive yet to be known."""
        from memory.archive.cost.factsheet import factsheet

        return PageRow(
            id=page.id,
            archive=archive,
            number=page.number,
            mode=page.mode.name,
            width=page.mode.side,
            height=page.mode.side,
            chars=len(page.text),
            sha256=page.sha256.hex(),
            pack=page.pack.name,
            position=page.position,
            text_tokens=self.count(page.text),
            vision_tokens=self.picture(page.mode.name),
            cell=page.mode.cell.name,
            factsheet=factsheet(page.text),
        )
