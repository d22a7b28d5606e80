"""Asks for the key of a service, without showing it, and stores it."""

import asyncio
from collections.abc import Mapping

from textual.dom import DOMNode

from foundation.keys import StoredKeys, checked_key
from tui.dialogs.line import LineScreen
from tui.typed_app import app_of

_NOTES = (
    "The key is stored in the system keyring, or in a file that only you can read. It is never shown.",
    "It is sent to this service only.",
)


async def ask_key(node: DOMNode, service: str, environment: Mapping[str, str]) -> str:
    """A sentence about where the key is stored; "" where none was given."""
    dialog = LineScreen(f"Key for {service}", _NOTES, checked_key, hidden=True)
    if (typed := await app_of(node).push_screen_wait(dialog)) is None:
        return ""
    place = await asyncio.to_thread(StoredKeys(environment).set, service, typed.text)
    return f"The key for {service} is stored in the {place}."
