"""Limits of a segment: what a device keeps to when it writes one, and what it refuses to read.

A few bytes of msgpack can stand for gigabytes of objects, so values are counted before any of them is made.
"""

from typing import Final

from memory.cold.encoding import to_bytes, to_text

MOST_TEXT: Final = 2**24
"""Bytes of the text of an entry: as long as a message may be."""
MOST_NOTE: Final = 2**20
"""Bytes of a note: merging and indexing one of a million lines takes 140 MB."""
MAX_NOTE_LINES: Final = 2**15
"""Lines of a note: each sync compares those of all notes, 400,000 take 6 s."""
MOST_META: Final = 2**22
"""Bytes of the meta of one entry."""
MOST_META_VALUES: Final = 2**17
MOST_NESTED: Final = 64
"""Lists and objects within one another."""
MOST_OPERATIONS: Final = 2**15
"""A device writes some 20,000 at most (memory.sync.outbox)."""
MOST_VALUES: Final = 2**20
"""Values of a whole segment: each takes about 80 bytes of memory, an operation has some twenty."""
MOST_BYTES: Final = 2**25
"""Bytes of unpacked operations: the longest text, the longest meta, and all that a device puts beside them."""
MOST_STORED: Final = MOST_BYTES + 2**17
"""Bytes of a file: zstd and age add less than that to what cannot be packed."""

_FIXED: Final = {0xC0: 0, 0xC2: 0, 0xC3: 0, 0xCA: 4, 0xCB: 8, 0xCC: 1, 0xCD: 2, 0xCE: 4, 0xCF: 8} | {
    head: 2**n for head, n in zip(range(0xD0, 0xD4), range(4), strict=True)
}
_EXTENSIONS: Final = {0xD4 + n: 1 + 2**n for n in range(5)}
_LENGTHS: Final = {0xC4: 1, 0xC5: 2, 0xC6: 4, 0xC7: 1, 0xC8: 2, 0xC9: 4, 0xD9: 1, 0xDA: 2, 0xDB: 4}
_MEMBERS: Final = {0xDC: 2, 0xDD: 4, 0xDE: 2, 0xDF: 4}
_TYPED: Final = frozenset({0xC7, 0xC8, 0xC9})  # a byte for the type of an extension comes before its bytes
_PLAIN: Final = {**_FIXED, **_EXTENSIONS}


def is_within(packed: bytes, *, values: int, nested: int) -> bool:
    """Whether the msgpack value holds no more than that many values, and none deeper; False where it is cut short.

    Makes none of them. Takes about 0.3 s for a million.
    """
    left, at, count = [1], 0, 0
    try:
        while left:
            if not left[-1]:
                left.pop()
                continue
            left[-1] -= 1
            count += 1
            if count > values:
                return False
            head = packed[at]
            at += 1
            if head < 0x80 or head >= 0xE0:  # a small number
                continue
            if 0xA0 <= head < 0xC0:  # a short string
                at += head & 0x1F
            elif (size := _PLAIN.get(head)) is not None:
                at += size
            elif (size := _LENGTHS.get(head)) is not None:
                at += size + int.from_bytes(packed[at : at + size]) + (head in _TYPED)
            else:
                width = _MEMBERS.get(head, 0)
                members = int.from_bytes(packed[at : at + width]) if width else head & 0x0F
                at += width
                left.append(members * 2 if head < 0x90 or head > 0xDD else members)
                if len(left) > nested + 1 or left[-1] > values:
                    return False
    except IndexError:
        return False
    return at <= len(packed)


def note_fits(text: bytes) -> bool:
    """Whether a note goes to other devices."""
    return len(text) <= MOST_NOTE and text.count(b"\n") <= MAX_NOTE_LINES


def fitting_text(text: str) -> bytes:
    """The text as other devices take it: of one that is too long its beginning, and a line that says so."""
    body = to_bytes(text)
    if len(body) <= MOST_TEXT:
        return body
    note = f"\n[This is the beginning of {len(body):,} bytes. The rest is too long for sync.]".encode()
    beginning = body[: MOST_TEXT - len(note)]
    while beginning and body[len(beginning)] & 0xC0 == 0x80:  # within a character
        beginning = beginning[:-1]
    return to_bytes(to_text(beginning)) + note
