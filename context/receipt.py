"""What a compaction did, in figures."""

from msgspec import Struct


class Receipt(Struct, frozen=True, kw_only=True):
    """Older turns left for the archive and a summary stands in their place.

    `tokens_before` and `tokens_after` are of the whole request, with all that stays in it.

    `text` is the sentence for a person. `entries` is 0 where there was nothing to do; `summary_seq` is the summary's
    seq (the conversation's new leaf) and `summary_entry` its id.
    """

    text: str
    entries: int = 0
    turns: int = 0
    tokens_before: int = 0
    tokens_after: int = 0
    pages: int = 0
    vision_tokens: int = 0
    summary_entry: str = ""
    summary_seq: int | None = None
    summary_tokens: int = 0
    archived: str = ""  # the label in the archive
    pages_in_view: int = 0  # of all the past, after it
    page_tokens: int = 0  # what they cost
    stands_for: int = 0  # what the words on them would cost as text
