"""Our variables for a theme that does not name them: Textual's own themes, and those of the person."""

from typing import Final

from textual.color import Color
from textual.theme import Theme

READABLE: Final = 4.5  # contrast of text against the ground; WCAG 2.2, 1.4.3
USER_SHADE: Final = 0.1  # of the ink in the ground of the person's messages
_STEPS: Final = 10  # in which an ink that is too weak goes towards the foreground

_ANSI: Final = {
    "accent-ink": "ansi_default",
    "muted": "ansi_bright_black",
    "faint": "ansi_bright_black",
    "code-ink": "ansi_yellow",
    "code-keyword": "ansi_magenta",
    "code-string": "ansi_green",
    "code-number": "ansi_cyan",
    "code-name": "ansi_blue",
    "error-ink": "ansi_red",
    "warning-ink": "ansi_yellow",
    "good-ink": "ansi_green",
    "selection": "ansi_blue",
    "user-ground": "ansi_white",
    "user-ink": "ansi_black",
    "scrollbar": "ansi_bright_black",
    "scrollbar-background": "ansi_default",
    "scrollbar-background-hover": "ansi_default",
    "scrollbar-background-active": "ansi_default",
    "scrollbar-hover": "ansi_default",
    "scrollbar-active": "ansi_default",
    "scrollbar-corner-color": "ansi_default",
}


def variables_for(theme: Theme) -> dict[str, str]:
    """Each of our variables, by name, from the theme's colours; text on the theme's ground can be read.

    A theme of the terminal's own colours gets names of such colours, every other one hexadecimal colours.
    """
    if theme.ansi:
        return dict(_ANSI)
    colours = theme.to_color_system().generate()
    ground, ink, panel = (Color.parse(colours[name]) for name in ("background", "foreground", "panel"))
    accent, primary, secondary = (Color.parse(colours[name]) for name in ("accent", "primary", "secondary"))
    faint = ink.blend(ground, 0.72)

    def text(colour: Color) -> str:
        return _readable(colour, ground, ink).hex

    return {
        "accent-ink": text(accent),
        "muted": text(ink.blend(ground, 0.4)),
        "faint": faint.hex,
        "code-ink": text(secondary),
        "code-keyword": text(primary),
        "code-string": text(Color.parse(colours["success"])),
        "code-number": text(accent),
        "code-name": text(secondary),
        "error-ink": text(Color.parse(colours["error"])),
        "warning-ink": text(Color.parse(colours["warning"])),
        "good-ink": text(Color.parse(colours["success"])),
        "selection": ground.blend(primary, 0.3).hex,
        "user-ground": ground.blend(ink, USER_SHADE).hex,
        "user-ink": ink.hex,
        "scrollbar": faint.hex,
        "scrollbar-background": ground.hex,
        "scrollbar-background-hover": ground.hex,
        "scrollbar-background-active": ground.hex,
        "scrollbar-hover": text(ink.blend(ground, 0.4)),
        "scrollbar-active": accent.hex,
        "scrollbar-corner-color": ground.hex,
        "block-cursor-background": panel.hex,
        "block-cursor-foreground": text(accent),
    }


def _readable(colour: Color, ground: Color, ink: Color) -> Color:
    """The colour, or the nearest one towards the ink that can be read on the ground."""
    shades = (colour.blend(ink, step / _STEPS) for step in range(_STEPS))
    return next((shade for shade in shades if contrast(shade, ground) >= READABLE), ink)


def contrast(one: Color, other: Color) -> float:
    """The contrast ratio of two opaque colours, 1 to 21, as WCAG 2.2 defines it."""
    brighter, darker = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (brighter + 0.05) / (darker + 0.05)


def _luminance(colour: Color) -> float:
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in colour.normalized
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
