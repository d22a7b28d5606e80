"""What the picker lists on one of its levels, and how a row is drawn."""

from collections.abc import Sequence
from datetime import date
from typing import ClassVar, Final

from msgspec import Struct
from rich.cells import cell_len
from rich.text import Text
from textual.dom import DOMNode

from agent.services.conversation_list import PreviewTurn
from memory.records import Conversation
from tui.typed_app import theme_colour
from tui.widgets.status import GAP, clip

MIN_LABEL: Final = 24  # cells of a row's words, before its details go
MAX_DETAILS: Final = 48  # cells


class PickerPreview(Struct, frozen=True):
    """What stands beside a row: a line about it, the turns, and the query whose words are marked."""

    about: str = ""
    turns: Sequence[PreviewTurn] = ()
    query: str = ""


class PickerLevel:
    """A level. Its methods that are asynchronous read the store in a thread; the others draw what was read."""

    title: ClassVar[str] = ""
    placeholder: ClassVar[str] = ""
    keys: ClassVar[tuple[str, ...]] = ()
    query = ""  # that the rows are of
    typed = ""  # in the field, and the key of the chosen row, while the other level is shown
    chosen_key = ""

    @property
    def count(self) -> int:
        """How many rows there are, headings included."""
        raise NotImplementedError

    @property
    def about(self) -> str:
        """A line about all of them."""
        raise NotImplementedError

    @property
    def empty(self) -> str:
        """What stands in place of the rows where there are none."""
        raise NotImplementedError

    async def read(self, query: str) -> None:
        """Reads the rows for this query, as far as that takes no time."""
        raise NotImplementedError

    async def read_texts(self) -> None:
        """Adds the rows that a search in the text finds for the query."""
        raise NotImplementedError

    async def read_details(self, visible: range) -> bool:
        """Reads what is drawn of these rows and not known yet; False where all was known."""
        raise NotImplementedError

    def first(self) -> int | None:
        """The row that is chosen at first."""
        raise NotImplementedError

    def index_of(self, key: str) -> int | None:
        """The row with this key."""
        return next((number for number in range(self.count) if self.key(number) == key), None)

    def key(self, number: int) -> str:
        """The id of what the row is of: a conversation, a turn, a day."""
        raise NotImplementedError

    def text(self, number: int, width: int, node: DOMNode) -> Text:
        """The row, of at most `width` cells."""
        raise NotImplementedError

    def conversation(self, number: int) -> Conversation | None:
        """The conversation of the row; None for a heading of the list of conversations."""
        raise NotImplementedError

    async def preview(self, number: int) -> PickerPreview:
        """What stands beside the row."""
        raise NotImplementedError

    def fold(self, number: int, *, folded: bool | None = None) -> bool:
        """Folds or unfolds the day of the row; None turns it about. True where something changed: `read` shows it."""
        raise NotImplementedError

    def heading_of(self, number: int) -> str:
        """The key of the heading above the row; "" for none."""
        raise NotImplementedError

    def toggle_hidden(self) -> None:
        """Lists what is hidden, or hides it again, from the next `read` on."""
        raise NotImplementedError


def day_label(day: date, today: date) -> str:
    """`Today`, `Yesterday`, `12 March 2026`."""
    match (today - day).days:
        case 0:
            return "Today"
        case 1:
            return "Yesterday"
        case _:
            return f"{day.day} {day:%B %Y}"


def row_text(head: str, label: str, details: Sequence[str], width: int, node: DOMNode) -> Text:
    """A row of visible texts: its words at the left, its details at the right, the first of them gone where there is no
    room."""
    shown = [detail for detail in details if detail]
    while shown and (width - cell_len(head) - cell_len(GAP.join(shown)) - 2 < MIN_LABEL or _is_long(shown)):
        shown = shown[1:]
    right = GAP.join(shown)
    room = max(width - cell_len(head) - (cell_len(right) + 2 if right else 0), 8)
    left = clip(label, room)
    text = Text(head, no_wrap=True, end="").append(left)
    gap = max(width - cell_len(head) - cell_len(left) - cell_len(right), 1) if right else 0
    return text.append(" " * gap + right, theme_colour(node, "muted"))


def heading_text(label: str, width: int, node: DOMNode) -> Text:
    """A heading, which is visible text."""
    return Text(clip(label, width), f"bold {theme_colour(node, 'accent-ink')}".strip(), no_wrap=True, end="")


def _is_long(details: Sequence[str]) -> bool:
    return len(details) > 2 and cell_len(GAP.join(details)) > MAX_DETAILS
