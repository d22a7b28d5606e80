"""The result of an MCP call as text, whole: text, structured content as JSON, what is no text as a note."""

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final, cast

from foundation.sizes import format_size

if TYPE_CHECKING:
    import mcp_types

REDACTED: Final = "[redacted: a value of this server's configuration]"


def result_text(result: "mcp_types.CallToolResult") -> str:
    """The whole result. Structured content is left out where a text says the same."""
    blocks = [_block(block) for block in result.content]
    structured: Any = result.structured_content
    if structured is not None and not _is_repeated(structured, [block for block in blocks if block]):
        blocks.append(_json(structured))
    return "\n".join(blocks) or "(the tool gave nothing)"


def without_values(text: str, secrets: Sequence[str]) -> str:
    """The text without the values, longest first; as JSON writes them, too."""
    for secret in secrets:
        for written in {secret, json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1]}:
            text = text.replace(written, REDACTED)
    return text


def _block(block: Any) -> str:
    match block.type:
        case "text":
            return block.text
        case "image" | "audio":
            size = format_size(len(block.data) * 3 // 4)
            return f"[{block.type}, {block.mime_type}, {size}: not shown, and not kept]"
        case "resource_link":
            return f"[link to a resource: {block.name} {block.uri}]"
        case "resource":
            return _resource(block.resource)
        case _:
            return f"[content of the kind {block.type}: not shown]"


def _resource(resource: Any) -> str:
    text = getattr(resource, "text", None)
    if text is not None:
        return f"[resource {resource.uri}]\n{text}"
    size = format_size(len(resource.blob) * 3 // 4)
    return f"[resource {resource.uri}, {resource.mime_type or 'data'}, {size}: not shown, and not kept]"


def _is_repeated(structured: Any, texts: Sequence[str]) -> bool:
    """Whether the texts hold the structured content: as JSON, or as the one value `result` of it."""
    fields = cast("dict[str, Any]", structured) if isinstance(structured, dict) else {}
    wrapped = fields.get("result") if len(fields) == 1 else None
    if isinstance(wrapped, str) and wrapped == "\n".join(texts):
        return True
    values = list(_parsed(texts))
    if wrapped is not None and (wrapped in values or wrapped == values):
        return True
    return structured in values


def _parsed(texts: Sequence[str]) -> Iterator[Any]:
    for text in texts:
        try:
            yield json.loads(text)
        except (ValueError, RecursionError):
            yield text


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1)
