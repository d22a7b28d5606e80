"""Code blocks, highlighted by Pygments, on a panel."""

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, cast

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style

from foundation.terminal_text import visible
from tui.widgets.transcript.styles import TranscriptStyles
from tui.widgets.transcript.wrap import StyledLine, StyledRun, breaks, cells, cut, fold

if TYPE_CHECKING:
    from pygments.lexer import Lexer

    Find = Callable[..., Lexer]

TAB: Final = 4
UNNAMED: Final = ("", "text", "txt", "plain")  # no label is worth a line
_STYLES: Final = (  # the longest fitting beginning of a token's name decides
    ("Keyword.Constant", "number"),
    ("Keyword", "keyword"),
    ("Operator.Word", "keyword"),
    ("Name.Function", "name"),
    ("Name.Class", "name"),
    ("Name.Decorator", "name"),
    ("Name.Builtin", "name"),
    ("Name.Tag", "keyword"),
    ("Name.Attribute", "name"),
    ("Literal.String", "string"),
    ("Literal.Number", "number"),
    ("Comment", "comment"),
    ("Generic.Deleted", "error"),
    ("Generic.Inserted", "good"),
    ("Generic.Heading", "keyword"),
    ("Generic.Subheading", "keyword"),
)


def code_lines(source: str, language: str, width: int, look: TranscriptStyles, *, labelled: bool) -> list[StyledLine]:
    """The code as lines of exactly `width` cells; a line too long goes on below."""
    lines: list[StyledLine] = []
    language = visible(language)
    if labelled and language not in UNNAMED and width > cell_len(language) + 4:
        space = " " * (width - cell_len(language) - 1)
        lines.append([Segment(space, look.panel), Segment(f"{language} ", look.panel + look.comment)])
    plain = language in UNNAMED  # as like as not prose, such as a recalled passage: it breaks between words
    for row in cut(
        _coloured(source.expandtabs(TAB), language, look), width - 2, breaks if plain else fold, keep_spaces=not plain
    ):
        space = " " * (width - 1 - cells(row))
        lines.append([Segment(" ", look.panel), *row, Segment(space, look.panel)])
    return lines


def _coloured(source: str, language: str, look: TranscriptStyles) -> list[StyledRun]:
    lexer = _lexer(language.lower()) if language else None
    if lexer is None:
        return [(source, look.panel)]
    return [(words, _style(kind, look)) for kind, words in lexer.get_tokens(source)]


@lru_cache(maxsize=32)
def _lexer(language: str) -> "Lexer | None":
    from pygments import lexers
    from pygments.util import ClassNotFound

    try:
        return cast("Find", lexers.get_lexer_by_name)(  # pyright: ignore[reportUnknownMemberType] - its options are untyped
            language, stripnl=False, ensurenl=False
        )
    except ClassNotFound:
        return None


@lru_cache(maxsize=512)
def _style(kind: Any, look: TranscriptStyles) -> Style:
    name = ".".join(kind)
    for start, style in _STYLES:
        if name.startswith(start):
            return look.panel + getattr(look, style)
    return look.panel
