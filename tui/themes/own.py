"""Our own themes. One accent; what is secondary is muted, what is a rule is faint.

They name each of our variables; for other themes `tui.themes.variables` works them out.
"""

from typing import Final

from textual.color import Color
from textual.theme import Theme

from tui.themes.variables import USER_SHADE

DARK: Final = "palimpsest"
LIGHT: Final = "palimpsest-light"
CONTRAST_DARK: Final = "high-contrast"
CONTRAST_LIGHT: Final = "high-contrast-light"


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
            "user-ground": Color.parse(ground).blend(Color.parse(ink), USER_SHADE).hex,
            "user-ink": ink,
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
    _theme(
        CONTRAST_DARK,
        dark=True,
        ground="#000000",
        ink="#ffffff",
        panel="#1c1c1c",
        accent="#ffd75f",
        variables={
            "muted": "#d0d0d0",
            "faint": "#9e9e9e",
            "code-ink": "#ffe9a8",
            "code-keyword": "#ffaf87",
            "code-string": "#c8f08f",
            "code-number": "#ffb3ff",
            "code-name": "#9fe8ff",
            "error-ink": "#ff9c8f",
            "warning-ink": "#ffd75f",
            "good-ink": "#a8f58b",
            "selection": "#00477a",
        },
    ),
    _theme(
        CONTRAST_LIGHT,
        dark=False,
        ground="#ffffff",
        ink="#000000",
        panel="#ededed",
        accent="#7a2e00",
        variables={
            "muted": "#3d3d3d",
            "faint": "#6b6b6b",
            "code-ink": "#4d3300",
            "code-keyword": "#8a1f00",
            "code-string": "#1f4d00",
            "code-number": "#660066",
            "code-name": "#004a5c",
            "error-ink": "#a00000",
            "warning-ink": "#6b4200",
            "good-ink": "#0f5200",
            "selection": "#bfe0ff",
        },
    ),
)
