"""Styles of the transcript, taken from the theme."""

from collections.abc import Mapping
from typing import Self

from msgspec import Struct
from rich.color import Color, ColorParseError
from rich.style import Style


class TranscriptStyles(Struct, frozen=True, kw_only=True):
    """Every style of the transcript, relative to `text`, which has the background."""

    text: Style
    muted: Style
    strong: Style = Style(bold=True)
    emphasis: Style = Style(italic=True)
    strikethrough: Style = Style(strike=True)
    accent: Style
    heading: Style
    code: Style  # in a line
    url: Style
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
    user: Style  # the user's messages
    selection: Style
    mark: Style = Style(bold=True, reverse=True)  # words that were searched for

    @classmethod
    def of_theme(cls, variables: Mapping[str, str], base: Style) -> Self:
        """`variables` are those of the theme, `base` the colour and background of the widget."""

        def ink(name: str, *, bold: bool | None = None, underline: bool | None = None) -> Style:
            return base + Style(color=_color(variables.get(name, "")), bold=bold, underline=underline)

        panel = base + Style(bgcolor=_color(variables.get("panel", "")))
        return cls(
            text=base,
            muted=ink("muted"),
            accent=ink("accent-ink", bold=True),
            heading=ink("accent-ink", bold=True),
            code=ink("code-ink"),
            url=ink("muted", underline=True),
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
            user=ink("user-ink", bold=True) + Style(bgcolor=_color(variables.get("user-ground", ""))),
            selection=Style(bgcolor=_color(variables.get("selection", ""))),
        )


def _color(value: str) -> Color | None:
    """None, the terminal's default, where the theme names no plain colour."""
    if value.startswith("ansi_"):
        value = value.removeprefix("ansi_")
    try:
        return Color.parse(value) if value else None
    except ColorParseError:
        return None
