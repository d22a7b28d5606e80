"""Choosing a theme: the list shows each one as it is gone to."""

from collections.abc import Mapping
from typing import Final

from textual.theme import BUILTIN_THEMES, Theme

from tui.dialogs.choices import ChoiceItem, ChoicesScreen
from tui.themes.own import THEMES
from tui.themes.terminal import AUTO
from tui.typed_app import ThemedApp

_OURS: Final = {theme.name for theme in THEMES}


def theme_items(themes: Mapping[str, Theme], *, is_dark: bool | None, in_use: str = "") -> list[ChoiceItem]:
    """AUTO, our own themes, those of the person, then Textual's; the one in use is marked."""
    told = {True: "dark now", False: "light now", None: "unknown: dark"}[is_dark]
    order = sorted(
        themes.values(), key=lambda theme: (theme.name not in _OURS, theme.name in BUILTIN_THEMES, theme.name)
    )
    details = {AUTO: f"light or dark to match the terminal ({told})"}
    details |= {theme.name: _detail(theme) for theme in order if theme.name != "textual-ansi"}
    return [
        ChoiceItem(name, name, f"{detail} · in use" if name == in_use else detail) for name, detail in details.items()
    ]


def _detail(theme: Theme) -> str:
    whose = "" if theme.name in _OURS else "from Textual" if theme.name in BUILTIN_THEMES else "yours"
    kind = "the terminal's own colours" if theme.ansi else "dark" if theme.dark else "light"
    return " · ".join(part for part in (kind, whose) if part)


async def pick_theme(app: ThemedApp, name: str) -> str | None:
    """The chosen theme, which is in use; None where none was chosen and the old one stays. "" lists them."""
    before = app.named_theme
    if name:
        app.use_theme(name)
        return name
    items = theme_items(app.available_themes, is_dark=app.has_dark_ground, in_use=before)
    dialog = ChoicesScreen("Theme", items, preview=app.use_theme, chosen=before)
    chosen: str | None = await app.push_screen_wait(dialog)
    if chosen is None:
        app.use_theme(before)
    return chosen
