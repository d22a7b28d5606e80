"""Links by reference, `[text][label]`: the URL is in a definition, `[label]: URL`, often in a later block."""

import re
from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from tui.widgets.transcript.markdown import label_key, link_definitions
from tui.widgets.transcript.splitter import BlockKind, MarkdownBlock

_LABEL: Final = re.compile(r"\[((?:\\.|[^\[\]\\]){1,999})\]")  # the longest that the parser takes


class ReferenceLinks:
    """Definitions of an answer that streams, and the blocks that refer to one which has not come yet."""

    def __init__(self) -> None:
        self._urls: dict[str, str] = {}  # by label; the first definition holds
        self._count = 0  # blocks so far
        self._waiting: dict[str, list[int]] = {}  # by label: numbers of blocks
        self._blocks: dict[int, MarkdownBlock] = {}  # those that wait

    def add(self, blocks: Sequence[MarkdownBlock]) -> tuple[list[MarkdownBlock], dict[int, MarkdownBlock]]:
        """The next finished blocks with their URLs; and by number, from 0, earlier ones that have more of them now."""
        new = [label for block in blocks for label in self._define(block)]
        numbers = sorted({number for label in new for number in self._waiting.pop(label, ())})
        changed = {number: self.linked(self._blocks[number]) for number in numbers}
        self._blocks.update(changed)
        linked = [self.linked(block) for block in blocks]
        for block in linked:
            if missing := _labels(block) - self._urls.keys():
                self._blocks[self._count] = block
                for label in missing:
                    self._waiting.setdefault(label, []).append(self._count)
            self._count += 1
        return linked, changed

    def linked(self, block: MarkdownBlock) -> MarkdownBlock:
        """The block with the URLs that are known of its labels."""
        known = _labels(block) & self._urls.keys()
        return replace(block, references={label: self._urls[label] for label in sorted(known)}) if known else block

    def _define(self, block: MarkdownBlock) -> list[str]:
        if block.kind is not BlockKind.PROSE or "]:" not in block.source:
            return []
        found = {label: url for label, url in link_definitions(block.source).items() if label not in self._urls}
        self._urls |= found
        return list(found)


def _labels(block: MarkdownBlock) -> set[str]:
    """Labels of all that may be a reference; of code, too, where it is none."""
    if block.kind is BlockKind.CODE:
        return set()
    text = f"{block.header}\n{block.source}" if block.header else block.source
    return {label_key(label) for label in _LABEL.findall(text)} if "[" in text else set()
