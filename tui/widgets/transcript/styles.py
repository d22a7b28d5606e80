"""Styles of the transcript, taken from the theme."""

from collections.abc import Mapping
from typing import Final, Self

from msgspec import Struct
from rich.color import Color, ColorParseError
from rich.style import Style

_PLAIN: Final = Style()


class TranscriptStyles(Struct, frozen=True, kw_only=True):
    """Every style of the transcript. Each stands on `text`, which carries the background."""

    text: Style
    muted: Style
    strong: Style = Style(bold=True)
    emphasis: Style = Style(italic=True)
    struck: Style = Style(strike=True)
    accent: Style
    heading: Style
    code: Style  # inside a sentence
    address: Style
    rule: Style
    panel: Style  # behind code
    keyword: Style
    string: Style
    number: Style
    name: Style
    comment: Style
    error: Style
    warning: Style
    good: Style
    asked: Style  # what the person said
    selection: Style

    @classmethod
    def of_theme(cls, variables: Mapping[str, str], base: Style) -> Self:
        """`variables` are the theme's, `base` the widget's own colour and background."""

        def ink(name: str, *, bold: bool | None = None, underline: bool | None = None) -> Style:
            return base + Style(color=_color(variables.get(name, "")), bold=bold, underline=underline)

        panel = base + Style(bgcolor=_color(variables.get("panel", "")))
        return cls(
            text=base,
            muted=ink("muted"),
            accent=ink("accent-ink", bold=True),
            heading=ink("accent-ink", bold=True),
            code=ink("code-ink"),
            address=ink("muted", underline=True),
            rule=ink("faint"),
            panel=panel,
            keyword=Style(color=_color(variables.get("code-keyword", ""))),
            string=Style(color=_color(variables.get("code-string", ""))),
            number=Style(color=_color(variables.get("code-number", ""))),
            name=Style(color=_color(variables.get("code-name", ""))),
            comment=Style(color=_color(variables.get("muted", "")), italic=True),
            error=ink("error-ink", bold=True),
            warning=ink("warning-ink"),
            good=ink("good-ink"),
            asked=base + Style(bold=True),
            selection=Style(bgcolor=_color(variables.get("selection", ""))),
        )


def _color(value: str) -> Color | None:
    """None, the terminal's own, where the theme names no plain colour."""
    if value.startswith("ansi_"):
        value = value.removeprefix("ansi_").replace("default", "default")
    try:
        return Color.parse(value) if value else None
    except ColorParseError:
        return None
