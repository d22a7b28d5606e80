"""Settings of the context; agent.config.config composes them with those of the other packages."""

from typing import Annotated

from msgspec import Meta, Struct


class ContextSettings(Struct, frozen=True, kw_only=True):
    """How a request is filled. Shares are of the window without the reserve."""

    reserve: Annotated[
        int,
        Meta(ge=0, description="Tokens reserved for the answer; 0 reserves a quarter of the window, at most 4,096."),
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
            description="Whether a request contains earlier turns, recalled passages and MEMORY.md; off sends only "
            "instructions "
            "and the message. A conversation can override this and the next three settings (/switches)."
        ),
    ] = True
    read_compressed: Annotated[
        bool,
        Meta(description="Whether earlier turns are sent as their summaries; turns without a summary are not sent."),
    ] = False
    use_compression: Annotated[
        bool,
        Meta(
            description="Whether each turn is summarised after its answer, for read_compressed. The turn itself is "
            "not removed."
        ),
    ] = False
    recent_count: Annotated[
        int,
        Meta(
            ge=0,
            le=100_000,
            description="The most earlier messages that are sent, or summaries with read_compressed; 0 sends all.",
        ),
    ] = 0
    carry_summary: Annotated[
        bool,
        Meta(description="Whether a new conversation starts with a summary of the last one."),
    ] = False
    scope: Annotated[
        str,
        Meta(
            description="The scope of new conversations: search and recall stay within the conversations of one scope. "
            "Empty is the workspace's own."
        ),
    ] = ""
    recall: Annotated[bool, Meta(description="Whether each message recalls passages from memory.")] = True
    recall_share: Annotated[
        float,
        Meta(ge=0, le=1, description="The largest share of a request for the recalled passages of all messages."),
    ] = 0.15
    recall_passage: Annotated[
        int, Meta(ge=20, le=20_000, description="The length of one recalled passage, in tokens.")
    ] = 200
    recall_tokens: Annotated[
        int, Meta(ge=0, description="The same limit in tokens for one message, if that is less; 0 uses the share only.")
    ] = 2000
    recall_most: Annotated[int, Meta(ge=0, le=1_000, description="The most passages recalled for one message.")] = 100
    recall_threshold: Annotated[
        float,
        Meta(
            ge=0,
            le=1,
            description="The lowest likelihood that memory helps with a message at which passages are recalled; 0 "
            "always recalls.",
        ),
    ] = 0.4
    recall_wait: Annotated[
        float, Meta(ge=0, le=600, description="The most seconds that a message waits for the memory search.")
    ] = 3.0
    observations: Annotated[
        int,
        Meta(
            ge=0,
            le=1_000,
            description="The most observations of earlier work that a conversation starts with, one line each; 0 for "
            "none.",
        ),
    ] = 50
    attachment_share: Annotated[
        float, Meta(ge=0, le=1, description="The largest share of a request for attachments.")
    ] = 0.5
    working_tokens: Annotated[
        int,
        Meta(
            ge=0,
            description="The size of a request, in tokens, above which old tool results are cut to one line each and "
            "older turns "
            "are archived; at most half of the window (or 8,000 if that is less), and half as much if tool calls "
            "fill the "
            "conversation. 0 fills the window.",
        ),
    ] = 24_000
    high_water: Annotated[
        float, Meta(gt=0, le=1, description="The share of the window's request space that may be filled.")
    ] = 1.0
    low_water: Annotated[
        float, Meta(gt=0, le=1, description="The share of the conversation's space that is filled after a compaction.")
    ] = 0.3
    summary_tokens: Annotated[
        int, Meta(ge=40, le=100_000, description="The largest share for the summary of one compaction.")
    ] = 500
    summary_model: Annotated[
        str,
        Meta(
            description="The model that writes the summary of a compaction, for example ollama:qwen3; empty extracts "
            "sentences "
            "without a model.",
            extra={"model": True},
        ),
    ] = ""
    summary_cost: Annotated[
        int,
        Meta(
            ge=1_000,
            le=10_000_000,
            description="The most tokens for one summary by a model, prompt and answer together.",
        ),
    ] = 8000
    summaries_share: Annotated[
        float,
        Meta(ge=0, le=1, description="The share of a request that summaries may fill before they are merged."),
    ] = 0.15
    resident_pages: Annotated[
        bool,
        Meta(
            description="Whether vision models get older turns as page images, if these cost fewer tokens than the "
            "text."
        ),
    ] = True
    vision_share: Annotated[
        float, Meta(ge=0, le=0.5, description="The largest share of the working set for page images.")
    ] = 0.15
    vision_tokens: Annotated[
        int, Meta(ge=0, description="The same limit in tokens, if that is less; 0 uses the share only.")
    ] = 0
