"""Which theme a name stands for."""

from collections.abc import Container

from tui.themes.own import DARK, LIGHT
from tui.themes.terminal import AUTO


def resolve_theme(name: str, themes: Container[str], *, is_dark: bool | None) -> str:
    """The name of the theme to show: ours for the terminal's ground where `name` is AUTO or no theme.

    A terminal that does not tell its ground (None) counts as dark.
    """
    return name if name != AUTO and name in themes else LIGHT if is_dark is False else DARK
