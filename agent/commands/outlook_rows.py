"""What archiving would do, as rows for a person."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:  # figures come from a session; the list of commands must not load one
    from context.compaction.preview import Outlook

NEAR = "about "


def outlook_rows(outlook: Outlook, label: str) -> tuple[tuple[str, str], ...]:
    """A name and a sentence a row: what leaves, where it goes, what stays, what that saves."""
    freed = outlook.tokens_before - outlook.tokens_after
    pages = _counted(outlook.pages, "page")
    named = (("label", label),) if label else ()
    return (
        ("leaves", f"{_what(outlook)}: {outlook.text_tokens:,} text tokens"),
        ("becomes", f"{pages}, {outlook.vision_tokens:,} vision tokens, read back first"),
        ("stays", f"{_stays(outlook)}a summary of at most {outlook.summary_tokens:,} tokens"),
        (
            "request",
            f"{outlook.tokens_before:,} → {outlook.tokens_after:,} tokens, {NEAR}{freed:,} fewer",
        ),
        *named,
    )


def _what(outlook: Outlook) -> str:
    entries = _counted(outlook.entries, "entry", "entries")
    return f"{_counted(outlook.turns, 'older turn')}, {entries}" if outlook.turns else entries


def _stays(outlook: Outlook) -> str:
    return f"{_counted(outlook.kept_turns, 'newer turn')}, and " if outlook.kept_turns else ""


def _counted(number: int, one: str, many: str = "") -> str:
    return f"{number:,} {one if number == 1 else many or one + 's'}"
