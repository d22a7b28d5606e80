"""Why the model must read everything again, in words that need no knowledge of how requests are made."""

from typing import Final

MODEL_CHANGED: Final = "the model changed"
ARCHIVED: Final = "older turns were archived"

_WORDS: Final = {
    MODEL_CHANGED: "Another model answers now",
    ARCHIVED: "Older turns left for the archive",
    "another branch": "Another branch of the conversation",
}


def epoch_words(reason: str, *, known: frozenset[str] = frozenset()) -> str:
    """One line, or "" where the person knows: `known` holds the reasons that they were told or made themselves."""
    if not reason or reason in known:
        return ""
    return f"{_WORDS.get(reason) or _begun(reason)}: the model reads the whole context anew."


def _begun(reason: str) -> str:
    """With a capital, but for the name of a file."""
    is_file = "." in reason.split(" ", 1)[0]
    return reason if is_file else reason[0].upper() + reason[1:]
