"""Quoting of foreign words in the shell commands that the program prints."""

import re
import shlex

from foundation.terminal_text import FORBIDDEN

_UNSEEN = re.compile(f"[\n\t{FORBIDDEN}\u200c\u200d\ufe00-\ufe0f\U000e0100-\U000e01ef]")


def shell_quote(word: str) -> str:
    """The word as one argument of a POSIX shell; control and hidden characters as `$'\\x1b'`, so that it stays visible
    and on one line."""
    if _UNSEEN.search(word) is None:
        return shlex.quote(word)
    escaped = word.replace("\\", "\\\\").replace("'", "\\'")
    return f"$'{_UNSEEN.sub(_bytes, escaped)}'"


def command_line(*words: str) -> str:
    """A command with its arguments: `palimpsest -r 'c1; touch x'`."""
    return " ".join(map(shell_quote, words))


def _bytes(match: re.Match[str]) -> str:
    data = match.group().encode(
        "utf-8", "surrogateescape" if "\udc80" <= match.group() <= "\udcff" else "surrogatepass"
    )
    return "".join(f"\\x{byte:02x}" for byte in data)
