"""Keeps the blocks of `!command` and `!!command` in their places while the transcript is loaded again: they are not
stored."""

import itertools
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from tui.widgets.transcript.block import Block, find_block
from tui.widgets.transcript.items import UserItem
from tui.widgets.transcript.view import Transcript

SHELL_KEY: Final = "shell:"  # begins the keys of these blocks
_NUMBERS = itertools.count(1)


def shell_key() -> str:
    """A key for the block of another command."""
    return f"{SHELL_KEY}{next(_NUMBERS)}"


class KeptBlock(Struct, frozen=True):
    """`before` and `after` are the ids of the messages around the block."""

    block: Block
    conversation: str
    before: frozenset[str]
    after: frozenset[str]


class ShellBlocks:
    """The blocks of one transcript: `keep` before its items go, `put_back` when others are loaded."""

    def __init__(self, transcript: Transcript) -> None:
        self._transcript = transcript
        self._kept: dict[str, KeptBlock] = {}  # by the block's key, in the order in which they ran

    def add(self, block: Block) -> None:
        """Shows a new block; above what a streaming answer still writes."""
        self._transcript.interject(block)

    def find(self, key: str) -> Block | None:
        """The block as it stands: in the transcript, or kept while that shows something else."""
        kept = self._kept.get(key)
        return find_block(self._transcript.line_cache.items, key) or (kept.block if kept else None)

    def replace(self, present: Block, block: Block) -> None:
        """Shows `block` in place of the present one."""
        self._transcript.replace_item(present, [block])
        if kept := self._kept.get(block.key):
            self._kept[block.key] = replace(kept, block=block)

    def keep(self, conversation: str) -> None:
        """Takes up the blocks that are shown, in this conversation. A block stays where it was first."""
        items = self._transcript.line_cache.items
        messages = [item.entry if isinstance(item, UserItem) else "" for item in items]
        for index, item in enumerate(items):
            if not isinstance(item, Block) or not item.key.startswith(SHELL_KEY):
                continue
            first = self._kept.get(item.key)
            before, after = (frozenset(filter(None, side)) for side in (messages[:index], messages[index:]))
            if first is not None:
                self._kept[item.key] = KeptBlock(item, first.conversation, first.before, first.after)
            elif before or after:
                self._kept[item.key] = KeptBlock(item, conversation, before, after)

    def put_back(self, conversation: str) -> None:
        """Shows the blocks of this conversation where they were among its messages, if those are loaded."""
        for kept in self._kept.values():
            if kept.conversation == conversation:
                self._put_back(kept)

    def _put_back(self, kept: KeptBlock) -> None:
        messages = [item for item in self._transcript.line_cache.items if isinstance(item, UserItem)]
        above = [number for number, message in enumerate(messages) if message.entry in kept.before]
        below = [number for number, message in enumerate(messages) if message.entry in kept.after]
        if messages and not above and not below:
            return
        following = above[-1] + 1 if above else below[0] if below else 0
        if following < len(messages):
            self._transcript.replace_item(messages[following], [kept.block, messages[following]])
        else:
            self._transcript.add(kept.block)
