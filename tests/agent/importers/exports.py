"""One conversation as ChatGPT exports it, and one as Claude does."""

from typing import Any


def node(
    parent: str | None, children: list[str], role: str = "user", parts: Any = ("x",), **more: Any
) -> dict[str, Any]:
    message = {
        "author": {"role": role},
        "create_time": 1.7e9,
        "content": {"content_type": "text", "parts": list(parts)},
    }
    return {"parent": parent, "children": children, "message": {**message, **more}}


BRANCHED = {
    "title": "Trip",
    "create_time": 1.7e9,
    "conversation_id": "abc",
    "current_node": "a2",
    "mapping": {
        "root": {"id": "root", "message": None, "parent": None, "children": ["sys"]},
        "sys": node("root", ["q"], "system", [""]),
        "q": node("sys", ["a1", "a2"], parts=["Where to?"]),
        "a1": node("q", ["t"], "assistant", ["Rome"]),
        "a2": node(
            "q", [], "assistant", ["Oslo", {"content_type": "image_asset_pointer"}], metadata={"model_slug": "gpt-4o"}
        ),
        "t": node("a1", [], parts=["Thanks"]),
        "lost": node("gone", [], parts=["An orphan"]),
    },
}


CLAUDE = {
    "uuid": "u1",
    "name": "Garden",
    "created_at": "2025-01-02T03:04:05.678Z",
    "chat_messages": [
        {
            "uuid": "m1",
            "sender": "human",
            "text": "old",
            "content": [{"type": "text", "text": "When to sow?"}],
            "created_at": "2025-01-02T03:04:05Z",
            "attachments": [{"file_name": "n.txt", "extracted_content": "notes"}],
            "parent_message_uuid": "00000000-0000-4000-8000-000000000000",
        },
        {
            "uuid": "m2",
            "sender": "assistant",
            "text": "",
            "content": [{"type": "thinking", "thinking": "hm"}],
            "parent_message_uuid": "m1",
        },
        {"uuid": "m3", "sender": "assistant", "text": "In May.", "content": None, "parent_message_uuid": "m2"},
        {"uuid": "m4", "sender": "assistant", "text": "In June.", "parent_message_uuid": "m1"},
        None,
    ],
}
