"""Where the transcript was before a search in it, and the way back."""

from typing import TYPE_CHECKING, Self

from msgspec import Struct

from tui.widgets.transcript.items import TranscriptItem
from tui.widgets.transcript.view import Transcript

if TYPE_CHECKING:
    from tui.chat.controller import ChatController


class FindOrigin(Struct, frozen=True):
    """The first visible item. `seq` is its entry's, 0 where it has none; `own_index` its place among the session's own
    items, None where it is none of them.
    """

    item: TranscriptItem | None = None
    offset: int = 0  # the first visible line of the item
    seq: int = 0
    own_index: int | None = None
    is_following: bool = False
    is_at_end: bool = False  # whether the conversation's end was loaded

    @classmethod
    def of(cls, transcript: Transcript, controller: "ChatController | None") -> Self:
        index, offset = transcript.top_line()
        items = transcript.line_cache.items
        if controller is None or index >= len(items):
            return cls(is_following=transcript.is_following)
        history, item = controller.history, items[index]
        own_from = len(items) - len(history.own_items())
        below = (seq for other in items[index:own_from] if (seq := history.entry_of(other)) is not None)
        return cls(
            item=item,
            offset=offset,
            seq=next(below, 0),
            own_index=index - own_from if index >= own_from else None,
            is_following=transcript.is_following,
            is_at_end=not history.has_more_below,
        )

    def show(self, transcript: Transcript) -> bool:
        """Scrolls to where it was; False where that is no longer loaded."""
        if self.item is None:
            return True
        if transcript.line_cache.index_of(self.item) is None:
            return False
        if self.is_following:
            transcript.follow_end()
        else:
            transcript.show_line(self.item, self.offset)
        return True

    async def return_to(self, transcript: Transcript, controller: "ChatController | None") -> None:
        """Goes to where it was, and loads that again where it is no longer loaded."""
        if self.show(transcript) or controller is None:
            return
        if self.is_at_end and (controller.history.has_more_below or self.is_following):
            await controller.return_to_newest()
        if not self.is_following and self.seq:
            if not controller.history.loaded_items(self.seq):
                await controller.history.show_match(self.seq)
            if items := controller.history.loaded_items(self.seq):
                transcript.show_line(items[0], self.offset)
