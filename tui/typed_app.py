"""Typed access to the application and the theme of a widget."""

import time
from collections.abc import Iterable, Mapping
from typing import Any, Protocol, cast

from textual.app import App
from textual.dom import DOMNode
from textual.theme import Theme


def app_of(node: DOMNode) -> App[None]:
    """The node's application."""
    return cast("App[None]", node.app)  # pyright: ignore[reportUnknownMemberType] - Textual leaves its parameter open


class ThemedApp(Protocol):
    """What our application adds to Textual's, for the screens that it imports."""

    theme: Any  # the name: a reactive of the class
    named_theme: str  # the name that was asked for; "auto" stays it

    @property
    def has_dark_ground(self) -> bool | None: ...

    @property
    def available_themes(self) -> dict[str, Theme]: ...

    def take_themes(self, themes: Iterable[Theme]) -> None: ...

    def use_theme(self, name: str) -> None: ...

    def use_keys(self, keys: Mapping[str, str]) -> list[str]: ...

    def use_panel(self, setting: Any) -> None: ...

    def write_sequence(self, sequence: str) -> None: ...

    def action_show_keys(self) -> object: ...

    def show_key_names(self) -> object: ...

    def show_keys_after_prompt(self) -> object: ...

    async def push_screen_wait(self, screen: Any) -> Any: ...


def themed_app(node: DOMNode) -> ThemedApp:
    """The node's application, with what is our own."""
    return cast("ThemedApp", app_of(node))


def seconds_since_key(node: DOMNode) -> float:
    """The seconds since the last key or paste, on any screen."""
    return time.monotonic() - float(getattr(app_of(node), "last_typed", 0.0))


def theme_colour(node: DOMNode, name: str) -> str:
    """A colour of the theme in use, by its variable's name, as Rich writes it; "" where the theme has none."""
    return app_of(node).theme_variables.get(name, "").removeprefix("ansi_")
