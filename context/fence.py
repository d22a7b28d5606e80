"""Keeps text from elsewhere within its own tags."""

import re

from foundation.privacy import Cleared, clear, edited

_TAG = re.compile(r"<(?=/?palimpsest-)", re.IGNORECASE)


def fenced(text: str) -> Cleared:
    """The text, cleared, with no tag in it that could pass for one of ours: `<palimpsest-…` becomes `‹palimpsest-…`."""
    return edited(clear(text), lambda text: _TAG.sub("‹", text))


def fenced_private(text: str) -> str:
    """The same for text that is sent as it is and not stored so."""
    return _TAG.sub("‹", text)
