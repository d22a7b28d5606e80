"""Sentences for pictures that cannot be read; a library's own message names its own objects."""

import re

_OBJECT = re.compile(r"\s*<[^<>]* at 0x[0-9a-fA-F]+>")


def why_unreadable(picture: bytes, error: Exception) -> str:
    """The sentence for what a library raised on opening or decoding it."""
    reason = _OBJECT.sub("", str(error)).strip().rstrip(".")
    if not picture:
        return "The file is empty."
    if "cannot identify" in reason:
        return "The file is not an image in a supported format (PNG, JPEG, WebP, BMP, GIF, TIFF)."
    if "truncated" in reason.lower():
        return "The image is incomplete: part of the file is missing."
    return f"The image is damaged and cannot be read{f' ({reason})' if reason else ''}."
