"""The receipt of a change that a model made to the notes and the like: opens to the difference, and is taken back."""

from typing import TYPE_CHECKING, Final, cast

from msgspec.structs import replace

from agent.events import VersionMade
from tui.chat.blocks import receipt_block
from tui.internal_errors import in_thread
from tui.widgets.transcript.block import CLOSED_MARK, Block, BlockText
from tui.widgets.transcript.items import MutedLine, TranscriptItem

if TYPE_CHECKING:
    from memory.memory import Memory

_KEY: Final = "receipt:version:"
HINT: Final = "to undo it, press Ctrl+↑ up to this line, then u"


def version_block(event: VersionMade, memory: "Memory | None") -> Block:
    """The receipt; without a memory it does not open."""

    def read() -> BlockText:
        from agent.services.file_versions import version_difference

        assert memory is not None
        return BlockText(version_difference(memory.versions.store, event.version), "diff")

    key = f"version:{event.version.number}"
    return receipt_block(key, f"{event.text} · {HINT}", read if memory is not None else None)


def stored_version_blocks(numbers: object, memory: "Memory") -> list[Block]:
    """The receipts of a stored tool call, by the numbers in its meta; of one that was taken back without its key.

    Blocks: reads the list of versions.
    """
    listed = cast(list[object], numbers) if isinstance(numbers, list) else []
    wanted = [number for number in listed if isinstance(number, int)]
    found = [version for version in memory.versions.store.versions() if version.number in wanted] if wanted else []
    return [_stored_block(VersionMade(version), memory) for version in found]


def _stored_block(event: VersionMade, memory: "Memory") -> Block:
    block = version_block(event, memory)
    is_undone = memory.restorer.is_undone(event.version.number)
    return undone_block(block, f"{event.text}, then undone") if is_undone else block


def version_number(item: TranscriptItem) -> int | None:
    """The version whose receipt the item is; None for others, and where it was taken back."""
    number = item.key.removeprefix(_KEY) if isinstance(item, Block) else ""
    return int(number) if number.isdigit() else None


async def undo_version(memory: "Memory", number: int) -> str:
    """Takes the change back; gives a sentence. Raises PalimpsestError."""
    from agent.services.version_restore import undo_change

    return (await in_thread(undo_change, memory, number)).sentence


def undone_block(block: Block, sentence: str) -> Block:
    """The receipt of a change that was taken back."""
    row = MutedLine(sentence, gap=True, prefix=CLOSED_MARK)
    return replace(block, key=f"{block.key}:undone", rows=(row,), shown=None)
