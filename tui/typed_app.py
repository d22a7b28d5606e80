"""Typed access to the application and the theme of a widget."""

from typing import cast

from textual.app import App
from textual.dom import DOMNode


def host(node: DOMNode) -> App[None]:
    """The node's application."""
    return cast("App[None]", node.app)  # pyright: ignore[reportUnknownMemberType] - Textual leaves its parameter open


def ink(node: DOMNode, name: str) -> str:
    """A colour of the theme in use, by its variable's name; "" where the theme has none."""
    return host(node).theme_variables.get(name, "")
