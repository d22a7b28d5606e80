"""What a person chose in the search."""

from msgspec import Struct


class EntryTarget(Struct, frozen=True):
    """Go to this entry (its seq), which these words found."""

    entry: int
    sought: str = ""


SearchChoice = EntryTarget | str
"""A place to go to, or a citation to put into the prompt."""
