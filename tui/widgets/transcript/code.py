"""Code blocks, highlighted by Pygments, on a panel."""

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, cast

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style

from foundation.terminal_text import visible
from tui.widgets.transcript.styles import TranscriptStyles
from tui.widgets.transcript.wrap import StyledLine, StyledRun, code_breaks, line_breaks, line_width, wrap_runs

if TYPE_CHECKING:
    from pygments.lexer import Lexer

    FindLexer = Callable[..., Lexer]

TAB: Final = 4
UNNAMED: Final = ("", "text", "txt", "plain")  # languages without a label
_STYLES: Final = (  # the first matching prefix of a token type's name
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
    ("Generic.Subheading", "accent"),  # as in the differences of the program's own screens
)


def code_lines(source: str, language: str, width: int, styles: TranscriptStyles, *, labelled: bool) -> list[StyledLine]:
    """The code as lines of exactly `width` cells; lines that are too long are wrapped at a space."""
    lines: list[StyledLine] = []
    language = visible(language)
    if labelled and language not in UNNAMED and width > cell_len(language) + 4:
        space = " " * (width - cell_len(language) - 1)
        lines.append([Segment(space, styles.panel), Segment(f"{language} ", styles.panel + styles.comment)])
    plain = language in UNNAMED  # probably prose, such as a recalled passage: wrapped between words
    for row in wrap_runs(
        highlighted(source.expandtabs(TAB), language, styles),
        width - 2,
        line_breaks if plain else code_breaks,
        keep_spaces=not plain,
    ):
        space = " " * (width - 1 - line_width(row))
        lines.append([Segment(" ", styles.panel), *row, Segment(space, styles.panel)])
    return lines


def highlighted(source: str, language: str, styles: TranscriptStyles) -> list[StyledRun]:
    lexer = _lexer(language.lower()) if language else None
    if lexer is None:
        return [(source, styles.panel)]
    # many lexers need the end of the last line, too: the one of diffs knew a last line without it for an error
    runs = [(text, _style(token_type, styles)) for token_type, text in lexer.get_tokens(f"{source}\n")]
    text, style = runs.pop()
    return [*runs, (text.removesuffix("\n"), style)] if text != "\n" else runs


@lru_cache(maxsize=32)
def language_of(name: str) -> str:
    """The language of a file by its name; "" where it is not known."""
    from pygments.lexers import find_lexer_class_for_filename

    lexer = cast("Any", find_lexer_class_for_filename)(name)
    return str(lexer.aliases[0]) if lexer is not None and lexer.aliases else ""


@lru_cache(maxsize=32)
def _lexer(language: str) -> "Lexer | None":
    from pygments import lexers
    from pygments.util import ClassNotFound

    try:
        return cast("FindLexer", lexers.get_lexer_by_name)(  # pyright: ignore[reportUnknownMemberType] - its options are untyped
            language, stripnl=False, ensurenl=False
        )
    except ClassNotFound:
        return None


@lru_cache(maxsize=512)
def _style(token_type: Any, styles: TranscriptStyles) -> Style:
    name = ".".join(token_type)
    for start, style in _STYLES:
        if name.startswith(start):
            ink: Style = getattr(styles, style)
            return styles.panel + Style(color=ink.color, bold=ink.bold, italic=ink.italic)  # on the panel's ground
    return styles.panel
