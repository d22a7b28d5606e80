"""A person's regular expression, made safe to run on any message.

Python's `re` has no time limit. A repeat within a repeat can take longer than the age of the world on thirty
characters, so it is refused; what is left is at worst polynomial, and runs over bounded windows of the text.
"""

import re
from collections.abc import Iterator

LONGEST_PATTERN = 500
LONGEST_TEXT = 4_000  # characters of a message that patterns look at
MOST_REPEATS = 3  # without a limit; each makes the worst case longer by the length of the text
SMALL = 8  # a limit up to which a repeat of choices is harmless
_REPEAT = re.compile(r"[*+?]|\{(?:[0-9]+(?:,[0-9]*)?|,[0-9]+)\}")
_VERBOSE = re.compile(r"\(\?[a-zA-Z]{0,8}x")
_ADVICE = (
    "a repeat or a choice within a repeat can run for ever; make the outer one possessive (`(…)*+`), "
    "give it a small limit (`(…){0,5}`), or write it flat"
)


class UnsafePattern(ValueError):
    """The pattern is refused; the message says why and what to write in its place."""


class SafePattern:
    """A compiled pattern that looks at bounded windows. Raises UnsafePattern, or re.error where it is no pattern."""

    def __init__(self, source: str) -> None:
        if len(source) > LONGEST_PATTERN:
            raise UnsafePattern(f"the pattern has {len(source)} characters; {LONGEST_PATTERN} are the most")
        repeats = _check(source)
        self._compiled = re.compile(source)
        if repeats > MOST_REPEATS:
            raise UnsafePattern(
                f"it has {repeats} repeats without a limit and {MOST_REPEATS} are the most; "
                "make them possessive (`\\d++`) or give them small limits (`\\d{1,4}`)"
            )
        # One more power than there are repeats, for the search from each place; a hundred million steps take a second.
        self.window = (LONGEST_TEXT, 4000, 400, 100)[repeats]

    def matches(self, text: str) -> bool:
        """Whether it is found in the text; a match longer than `window` may be missed."""
        return any(self._compiled.search(window) for window in _windows(text[:LONGEST_TEXT], self.window))


def _windows(text: str, size: int) -> Iterator[str]:
    yield text[:size]
    for start in range(size // 2, max(0, len(text) - size // 2), size // 2):
        yield text[start : start + size]


def _check(source: str) -> int:
    """How many unbounded repeats the pattern has. Raises UnsafePattern for one within another."""
    if _VERBOSE.search(source):
        raise UnsafePattern("the flag x is not taken here; write the pattern without blanks")
    total = 0
    varies = [False]  # for each open group: whether what is within can match in more than one way
    position = 0
    while position < len(source):
        step = 1
        match source[position]:
            case "\\":
                step = 2
            case "[":
                step = _end_of_set(source, position) - position
            case "(":
                varies.append(False)
                step = 2 if source[position + 1 : position + 2] == "?" else 1
            case "|":
                varies[-1] = True
            case ")" if len(varies) > 1:
                within = varies.pop()
                if within and _repeats(source, position + 1)[0] == "loop":
                    raise UnsafePattern(_ADVICE)
                varies[-1] |= within
            case _:
                kind, length = _repeats(source, position)
                varies[-1] |= kind != ""
                total += kind == "loop"
                step = max(1, length)
        position += step
    return total


def _end_of_set(source: str, start: int) -> int:
    """The place after the `]` that closes the set."""
    position = start + 1
    if source[position : position + 1] == "^":
        position += 1
    if source[position : position + 1] == "]":
        position += 1
    while position < len(source) and source[position] != "]":
        position += 2 if source[position] == "\\" else 1
    return position + 1


def _repeats(source: str, position: int) -> tuple[str, int]:
    """The repeat that stands here, and its length in the pattern.

    `loop` is one with no small limit, `few` another that may match in more than one way, "" one that may not, or none.
    """
    found = _REPEAT.match(source, position)
    if found is None:
        return "", 0
    words, length = found.group(), found.end() - position
    match source[found.end() : found.end() + 1]:
        case "+":
            return "", length + 1  # possessive: it never goes back
        case "?":
            length += 1
        case _:
            pass
    if words in "*+":
        return "loop", length
    if words == "?":
        return "few", length
    least, comma, most = words[1:-1].partition(",")
    if not comma:
        return ("loop" if int(least) > SMALL else ""), length
    return ("few" if most and int(most) <= SMALL else "loop"), length
