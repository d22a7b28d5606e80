"""Typed access to the application and the theme of a widget."""

import time
from typing import cast

from textual.app import App
from textual.dom import DOMNode


def app_of(node: DOMNode) -> App[None]:
    """The node's application."""
    return cast("App[None]", node.app)  # pyright: ignore[reportUnknownMemberType] - Textual leaves its parameter open


def seconds_since_key(node: DOMNode) -> float:
    """The seconds since the last key or paste, on any screen."""
    return time.monotonic() - float(getattr(app_of(node), "last_typed", 0.0))


def theme_colour(node: DOMNode, name: str) -> str:
    """A colour of the theme in use, by its variable's name; "" where the theme has none."""
    return app_of(node).theme_variables.get(name, "")
