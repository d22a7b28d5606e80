"""The settings of embeddings; agent.config.config composes them with the others."""

from typing import Annotated

from msgspec import Meta, Struct


class EmbedSettings(Struct, frozen=True, kw_only=True):
    """Settings of the embedder, which finds texts by meaning and not only by their words."""

    embedder: Annotated[
        str,
        Meta(
            description="What embeds: none, ollama:NAME, lmstudio:NAME, llamacpp:NAME, openai:NAME@ADDRESS, "
            "onnx:FOLDER, mlx:FOLDER-OR-HUB-NAME. Text goes to that address and nowhere else."
        ),
    ] = "none"
    before: Annotated[
        str,
        Meta(description="What embedded until now: its vectors serve until those of the new one are made."),
    ] = ""
    background: Annotated[
        bool,
        Meta(
            description="Whether vectors are made in the background of the chat; `models embed` makes them too.",
            extra={"guarded": True},  # to make them, texts are sent
        ),
    ] = True
    dimensions: Annotated[
        int,
        Meta(
            ge=0,
            le=65_535,
            description="How many numbers of each vector are kept; 0 keeps all. Not every model may be cut.",
            extra={"guarded": True},  # another number makes every vector anew
        ),
    ] = 0
    query_prefix: Annotated[
        str | None, Meta(description="What the model wants before a question; empty goes by the model's own folder.")
    ] = None
    text_prefix: Annotated[
        str | None, Meta(description="What the model wants before a text; empty goes by the model's own folder.")
    ] = None
    batch: Annotated[int, Meta(ge=1, le=2048, description="How many texts are embedded at once.")] = 32
    timeout: Annotated[float, Meta(gt=0, le=86_400, description="Seconds to wait for the vectors of a batch.")] = 120.0
    query_timeout: Annotated[
        float,
        Meta(
            gt=0, le=600, description="Seconds that a search waits for its question's vector, before it goes by words."
        ),
    ] = 3.0
