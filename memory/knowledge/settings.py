"""The settings of knowledge."""

from typing import Annotated

from msgspec import Meta, Struct


class KnowledgeSettings(Struct, frozen=True, kw_only=True):
    """How much of the added files is in view, and how long the rest is kept."""

    max_vision_tokens: Annotated[
        int,
        Meta(
            ge=0,
            description="Vision tokens that knowledge may take in view; above it, forgetting acts.",
            extra={"guarded": True},  # what it forgets, retention deletes
        ),
    ] = 400
    retention_days: Annotated[
        int,
        Meta(
            ge=0,
            description="Days after which what is out of view, replaced or gone from disk is deleted; 0 keeps it for "
            "ever.",
            extra={"guarded": True},
        ),
    ] = 0
    max_file_mb: Annotated[
        int, Meta(ge=1, description="The largest file that is read, in megabytes.", extra={"guarded": True})
    ] = 100
