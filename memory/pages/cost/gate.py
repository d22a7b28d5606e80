"""The gate: a text is sent as a picture only where that costs fewer tokens and loses nothing that matters.

Chat models misread hex, keys and dense code silently (13 of 15 on the best, none on others: pxpipe), so such a text
stays text whatever it costs.

A page as it goes over a wire: the same picture, its pixels compressed.
"""

import re
import struct
import zlib

_AT = 33  # where the pixel data begins: after the signature and the header chunk
_LEVEL = 6


def compress_png(png: bytes) -> bytes:
    """One of our own stored PNGs, compressed: about a seventh of its size. The same bytes for the same page."""
    length = int.from_bytes(png[_AT : _AT + 4], "big")
    packed = zlib.compress(zlib.decompress(png[_AT + 8 : _AT + 8 + length]), _LEVEL)
    chunk = b"IDAT" + packed
    return (
        png[:_AT]
        + struct.pack(">I", len(packed))
        + chunk
        + struct.pack(">I", zlib.crc32(chunk))
        + png[_AT + 12 + length :]
    )


FRAME = 24  # tokens of the words around a picture: which page, of when, of what

DENSE_MARKS = 0.25  # of what is not blank: Python has 0.13 to 0.19, minified JavaScript 0.30 and more
DENSE_KEYS = 0.12  # of what is not blank, in runs of letters and digits mixed
DENSE_DIGITS = 0.40
_LOOKED_AT = 100_000  # characters

_BLANK = re.compile(r"\s+")
_MARK = re.compile(r"[!-/:-@\[-`{-~]")
_DIGIT = re.compile(r"[0-9]")
_RUN = re.compile(r"[0-9A-Za-z_+/=-]{12,400}")
_LOWER_AND_UPPER = re.compile(r"[a-z][A-Z0-9][^/_-]{0,12}[a-z][A-Z0-9]")


def saves_tokens(text_tokens: int, image_tokens: int, sheet_tokens: int) -> bool:
    """Whether the picture, its factsheet and its frame cost fewer tokens than the text."""
    return image_tokens + sheet_tokens + FRAME < text_tokens


def should_stay_text(text: str) -> bool:
    """Whether most of the text is of a kind that a chat model misreads from pixels."""
    solid = _BLANK.sub("", text[:_LOOKED_AT])
    if not solid:
        return True
    if len(_DIGIT.findall(solid)) > DENSE_DIGITS * len(solid):
        return True
    if len(_MARK.findall(solid)) > DENSE_MARKS * len(solid):
        return True
    keys = sum(len(run) for run in _RUN.findall(text[:_LOOKED_AT]) if is_key(run))
    return keys > DENSE_KEYS * len(solid)


def is_key(run: str) -> bool:
    """Whether this looks like hex, base64 or a key rather than a word or a program's name."""
    digits = len(_DIGIT.findall(run))
    if digits >= 4 and digits * 8 >= len(run) and digits < len(run):
        return True
    return len(run) >= 20 and bool(_LOWER_AND_UPPER.search(run)) and any(c.isdigit() or c in "+/=" for c in run)
