"""The settings of embeddings; agent.config.config composes them with the others."""

from typing import Annotated

from msgspec import Meta, Struct


class EmbedSettings(Struct, frozen=True, kw_only=True):
    """Settings of the embedder, which finds texts by meaning and not only by their words."""

    embedder: Annotated[
        str,
        Meta(
            description="The embedder: none, ollama:NAME, lmstudio:NAME, llamacpp:NAME, openai:NAME@ADDRESS, "
            "onnx:FOLDER, mlx:FOLDER-OR-HUB-NAME. Text goes to that address and nowhere else."
        ),
    ] = "none"
    before: Annotated[
        str,
        Meta(description="The previous embedder: its vectors are used until the new ones are ready."),
    ] = ""
    background: Annotated[
        bool,
        Meta(
            description="Whether vectors are computed in the background of the chat; `models embed` computes them, "
            "too.",
            extra={"guarded": True},  # to make them, texts are sent
        ),
    ] = True
    dimensions: Annotated[
        int,
        Meta(
            ge=0,
            le=65_535,
            description="The dimensions of each vector that are stored; 0 stores all. Not every model supports "
            "truncation.",
            extra={"guarded": True},  # another number makes every vector anew
        ),
    ] = 0
    query_prefix: Annotated[
        str | None, Meta(description="The prefix of a query; empty uses the one in the model's folder.")
    ] = None
    text_prefix: Annotated[
        str | None, Meta(description="The prefix of a text; empty uses the one in the model's folder.")
    ] = None
    batch: Annotated[int, Meta(ge=1, le=2048, description="The number of texts in one batch.")] = 32
    timeout: Annotated[float, Meta(gt=0, le=86_400, description="Seconds to wait for the vectors of a batch.")] = 120.0
    query_timeout: Annotated[
        float,
        Meta(
            gt=0,
            le=600,
            description="Seconds that a search waits for the vector of its query before it matches words only.",
        ),
    ] = 3.0
