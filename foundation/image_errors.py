"""Sentences for pictures that cannot be read; a library's own message names its own objects."""

import re

_OBJECT = re.compile(r"\s*<[^<>]* at 0x[0-9a-fA-F]+>")


def why_unreadable(picture: bytes, error: Exception) -> str:
    """The sentence for what a library raised on opening or decoding it."""
    reason = _OBJECT.sub("", str(error)).strip().rstrip(".")
    if not picture:
        return "The file is empty: there is no picture in it."
    if "cannot identify" in reason:
        return "The file is no picture of a kind that can be read (PNG, JPEG, WebP, BMP, GIF, TIFF)."
    if "truncated" in reason.lower():
        return "The picture is cut off: a part of the file is missing."
    return f"The picture is damaged and cannot be read{f' ({reason})' if reason else ''}."
