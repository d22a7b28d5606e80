"""Pieces of the transcript in which a text stands in every place."""

from rich.style import Style

from tests.tui.conftest import Open, open_chat  # noqa: F401 - a fixture
from tests.tui.fakes import RECALLED
from tui.images.attached import AttachmentPreview
from tui.images.protocol import GraphicsProtocol
from tui.widgets.transcript.block import Block, BlockExcerpt, BlockText
from tui.widgets.transcript.items import AnswerBlock, ErrorItem, MutedLine, UserItem, Welcome
from tui.widgets.transcript.line_numbers import numbered_items
from tui.widgets.transcript.recalled import RecalledLine, RecalledLines
from tui.widgets.transcript.splitter import MarkdownSplitter
from tui.widgets.transcript.styles import TranscriptStyles

LOOK = TranscriptStyles.of_theme({}, Style())


def answered(text: str) -> list[AnswerBlock]:
    """An answer of Markdown in which the text stands in every place."""
    source = (
        f"# {text}\n\n{text} **{text}** `{text}` [{text}](http://{text}) ![{text}](x{text})\n\n- {text}\n  - {text}\n\n"
        f"> {text}\n\n1. {text}\n\n```{text}\n{text}\n```\n\n| {text} | b |\n|---|---|\n| {text} | {text} |\n\n"
        f"    {text}\n"
    )
    splitter = MarkdownSplitter()
    blocks = [*splitter.feed(source), *splitter.close()]
    return [AnswerBlock(block, first=True) for block in blocks]


def opened(text: str) -> list[Block]:
    """Blocks of the text, closed and open, in colours of a diff, of Markdown and of none."""
    closed = Block(key=text, rows=(MutedLine(text, prefix="▸ "), MutedLine(text)), title=text)
    notes = [closed.opened(BlockExcerpt("", note=text))]
    return [closed, *notes, *(closed.opened(BlockExcerpt.of(BlockText(text, of))) for of in ("", "diff", "markdown"))]


PIECES = {
    Block: opened,
    RecalledLine: lambda text: [RecalledLine(MutedLine(text), RECALLED[0])],
    RecalledLines: lambda text: [RecalledLines(MutedLine(text), ())],
    UserItem: lambda text: [UserItem(text, note=text)],
    AnswerBlock: answered,
    MutedLine: lambda text: [MutedLine(text)],
    ErrorItem: lambda text: [ErrorItem(text, text, text)],
    Welcome: lambda text: [Welcome(text, text, text, text, first=True)],
    type(numbered_items("a")[0]): lambda text: numbered_items(text),
    AttachmentPreview: lambda text: [AttachmentPreview(None, text, GraphicsProtocol.OFF)],
}
