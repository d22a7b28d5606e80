"""The colours. One accent; what is secondary is muted, what is a rule is faint.

Every theme names the same variables, which `tui.widgets.transcript.styles` and the style sheets read.
"""

from typing import Final

from textual.theme import Theme

DARK: Final = "palimpsest"
LIGHT: Final = "palimpsest-light"


def _theme(
    name: str, *, dark: bool, ground: str, ink: str, panel: str, accent: str, variables: dict[str, str]
) -> Theme:
    return Theme(
        name=name,
        primary=accent,
        secondary=variables["code-name"],
        accent=accent,
        foreground=ink,
        background=ground,
        surface=ground,
        panel=panel,
        error=variables["error-ink"],
        warning=variables["warning-ink"],
        success=variables["good-ink"],
        dark=dark,
        variables={
            "accent-ink": accent,
            "input-cursor-background": accent,
            "input-cursor-foreground": ground,
            "input-selection-background": variables["selection"],
            "scrollbar": variables["faint"],
            "scrollbar-background": ground,
            "scrollbar-background-hover": ground,
            "scrollbar-background-active": ground,
            "scrollbar-hover": variables["muted"],
            "scrollbar-active": accent,
            "scrollbar-corner-color": ground,
            "screen-selection-background": variables["selection"],
            "block-cursor-background": panel,
            "block-cursor-foreground": accent,
            "block-cursor-blurred-background": panel,
            "block-hover-background": panel,
            **variables,
        },
    )


THEMES: Final = (
    _theme(
        DARK,
        dark=True,
        ground="#191715",
        ink="#ded7cc",
        panel="#23201d",
        accent="#e0a458",
        variables={
            "muted": "#958b7f",
            "faint": "#4b453f",
            "code-ink": "#d5bd93",
            "code-keyword": "#d98f6a",
            "code-string": "#a9b87c",
            "code-number": "#c9a0c4",
            "code-name": "#86b0b8",
            "error-ink": "#e07a6b",
            "warning-ink": "#dfb25c",
            "good-ink": "#a3bd7a",
            "selection": "#4a3f30",
        },
    ),
    _theme(
        LIGHT,
        dark=False,
        ground="#f8f4ec",
        ink="#2f2a24",
        panel="#eee7da",
        accent="#9a5a12",
        variables={
            "muted": "#756b5e",
            "faint": "#cfc4b2",
            "code-ink": "#6d4c1b",
            "code-keyword": "#a3431f",
            "code-string": "#4f6b1c",
            "code-number": "#7d3f7a",
            "code-name": "#23606b",
            "error-ink": "#b3362a",
            "warning-ink": "#8a5d00",
            "good-ink": "#47691a",
            "selection": "#e6d3ae",
        },
    ),
)
