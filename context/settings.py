"""Settings of the context; agent.config.config composes them with those of the other packages."""

from typing import Annotated

from msgspec import Meta, Struct


class ContextSettings(Struct, frozen=True, kw_only=True):
    """How a request is filled. Shares are of the window without the reserve."""

    reserve: Annotated[
        int, Meta(ge=0, description="Tokens kept for the answer; 0 keeps a quarter of the window, 4,096 at most.")
    ] = 0
    system_share: Annotated[float, Meta(ge=0, le=1, description="The share of instructions and tools.")] = 0.10
    project_share: Annotated[
        float, Meta(ge=0, le=1, description="The share of AGENTS.md, SOUL.md, skills and MEMORY.md.")
    ] = 0.30
    conversation_share: Annotated[float, Meta(ge=0, le=1, description="The share of summaries and turns.")] = 0.40
    message_share: Annotated[
        float, Meta(ge=0, le=1, description="The share of the message, its attachments and what is recalled for it.")
    ] = 0.20
    use_memory: Annotated[
        bool,
        Meta(
            description="Whether a request holds earlier turns, recalled passages and MEMORY.md; off sends "
            "instructions and the message alone. A conversation may have its own value (/switches), as for the next "
            "three."
        ),
    ] = True
    read_compressed: Annotated[
        bool,
        Meta(description="Whether earlier turns are read as their summaries; where there are none, none are read."),
    ] = False
    use_compression: Annotated[
        bool, Meta(description="Whether each turn is summarised after its answer, for read_compressed. The turn stays.")
    ] = False
    recent_count: Annotated[
        int,
        Meta(
            ge=0,
            le=100_000,
            description="The most messages of earlier turns that are read, or summaries with read_compressed; 0 is "
            "all.",
        ),
    ] = 0
    carry_summary: Annotated[
        bool,
        Meta(description="Whether a new conversation begins with a summary of the last one; off begins without it."),
    ] = False
    scope: Annotated[
        str,
        Meta(
            description="The scope of new conversations: search and recall stay within the conversations of one scope. "
            "Empty is the workspace's own."
        ),
    ] = ""
    recall: Annotated[bool, Meta(description="Whether each message brings back what memory has on it.")] = True
    recall_share: Annotated[
        float,
        Meta(ge=0, le=1, description="The most of a request that recalled passages may take, of all messages in view."),
    ] = 0.15
    recall_passage: Annotated[int, Meta(ge=20, le=20_000, description="Tokens of one recalled passage.")] = 200
    recall_tokens: Annotated[
        int, Meta(ge=0, description="The same in tokens for one message, where that is less; 0 leaves it to the share.")
    ] = 2000
    recall_most: Annotated[int, Meta(ge=0, le=1_000, description="The most passages recalled for one message.")] = 100
    recall_threshold: Annotated[
        float,
        Meta(ge=0, le=1, description="How likely memory must serve a message for anything to be recalled; 0 for any."),
    ] = 0.4
    recall_wait: Annotated[
        float, Meta(ge=0, le=600, description="The most seconds that a message waits for what is recalled for it.")
    ] = 3.0
    observations: Annotated[
        int,
        Meta(
            ge=0,
            le=1_000,
            description="The most observations of earlier work that a conversation begins with, a line each; 0 for "
            "none.",
        ),
    ] = 50
    attachment_share: Annotated[float, Meta(ge=0, le=1, description="The most that attachments may take.")] = 0.5
    working_tokens: Annotated[
        int,
        Meta(
            ge=0,
            description="The size of a request in tokens from which on old tool results become a line each and older "
            "turns leave for the archive; at most half of the window, or 8,000 where that is less. Half as much "
            "where tool calls fill the conversation. 0 fills the window.",
        ),
    ] = 24_000
    high_water: Annotated[
        float, Meta(gt=0, le=1, description="How much of the window's share for requests may be filled.")
    ] = 1.0
    low_water: Annotated[
        float, Meta(gt=0, le=1, description="How much of the room for the conversation is filled after turns left.")
    ] = 0.3
    summary_tokens: Annotated[
        int, Meta(ge=40, le=100_000, description="The most that the summary of one compaction takes.")
    ] = 500
    summary_model: Annotated[
        str,
        Meta(
            description="The model that writes the summary of a compaction, like ollama:qwen3; empty takes sentences "
            "of the turns themselves, and no model reads them.",
            extra={"model": True},
        ),
    ] = ""
    summary_cost: Annotated[
        int,
        Meta(
            ge=1_000, le=10_000_000, description="The most tokens that one summary by a model costs, prompt and answer."
        ),
    ] = 8000
    summaries_share: Annotated[
        float,
        Meta(ge=0, le=1, description="The share of a request that summaries take before they are joined."),
    ] = 0.15
    resident_pages: Annotated[
        bool,
        Meta(
            description="Whether a model that sees gets what is old as page images, where they cost fewer tokens than "
            "the text."
        ),
    ] = True
    vision_share: Annotated[
        float, Meta(ge=0, le=0.5, description="The most of the working set that page images in view may take.")
    ] = 0.15
    vision_tokens: Annotated[
        int, Meta(ge=0, description="The same in tokens, where that is less; 0 leaves it to the share.")
    ] = 0
