"""The settings of imports; agent.config.settings composes them with the others."""

from typing import Annotated

from msgspec import Meta, Struct

from models.limits import in_bytes


class ImportSettings(Struct, frozen=True, kw_only=True):
    """How much of a file that is imported is held at once."""

    line_mb: Annotated[
        float,
        Meta(
            gt=0,
            description="Maximum length of a line in a JSONL file, in megabytes; a longer line is not imported.",
            extra={"guarded": True},
        ),
    ] = 16.0
    conversation_mb: Annotated[
        float,
        Meta(
            gt=0,
            description="Maximum size of a conversation in an export of ChatGPT or Claude, in megabytes.",
            extra={"guarded": True},
        ),
    ] = 64.0

    @property
    def line(self) -> int:
        """In bytes."""
        return in_bytes(self.line_mb)

    @property
    def conversation(self) -> int:
        """In characters."""
        return in_bytes(self.conversation_mb)
