"""Each kind of record in exports and sessions of Claude.ai, ChatGPT, Gemini CLI and opencode: every word of the user is
imported exactly once, and the documents of the model are text of its answers.

The kinds are those of the data exports of 2025 and 2026, of google-gemini/gemini-cli (`chatRecordingTypes.ts`) and of
anomalyco/opencode (`message-v2.ts`).
"""

import json
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from agent.importers.chatgpt import read_chatgpt
from agent.importers.claude import read_claude
from agent.importers.gemini import read_gemini
from agent.importers.opencode import read_opencode
from agent.importers.record import BadRecord, ImportRecord, ParsedRecord
from agent.importers.skipped import Skipped, SkipReason
from models.messages import Role
from tests.agent.importers.stored import lines
from tests.agent.importers.test_words_once import Event, Session, own_messages, text

SEEDS = range(25)


class Made(Session):
    """A conversation in one of the formats; `written` are words of documents that the model wrote."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.written: list[str] = []

    def document(self) -> str:
        self.written.append(word := f"written{len(self.written)}x")
        return f"# {word}"

    def records(self) -> list[ParsedRecord]:
        raise NotImplementedError


class Claude(Made):
    def message(self, sender: str, *blocks: Event, **more: Any) -> None:
        base = {"uuid": f"m{len(self.events)}", "sender": sender, "content": list(blocks), "created_at": self.at()}
        self.events.append(base | {"text": ""} | more)

    def tool(self, name: str, **fields: Any) -> None:
        use = {"type": "tool_use", "name": name, "input": fields}
        self.message("assistant", use, {"type": "tool_result", "name": name, "content": [text(self.app())]})

    def records(self) -> list[ParsedRecord]:
        return list(read_claude([{"uuid": "c", "name": "Talk", "chat_messages": self.events}]))


CLAUDE: dict[str, Callable[[Claude], object]] = {
    "a message": lambda made: made.message("human", text(made.words())),
    "blocks": lambda made: made.message("human", text(made.words()), text(made.words())),
    "an older message": lambda made: made.message("human", text=made.words(), content=None),
    "a dictated message": lambda made: made.message("human", {"type": "voice_note", "text": made.words()}),
    "a pasted text": lambda made: made.message(
        "human", text(""), attachments=[{"file_name": "", "extracted_content": made.words()}]
    ),
    "an attachment": lambda made: made.message(
        "human", text(made.words()), attachments=[{"file_name": "a.txt", "extracted_content": made.words()}]
    ),
    "an attachment that is a file": lambda made: made.message(
        "human",
        attachments=[{"file_name": (name := made.words()), "extracted_content": ""}],
        files=[{"file_name": name}],
    ),
    "a file alone": lambda made: made.message("human", files=[{"file_name": made.words()}]),
    "an answer": lambda made: made.message("assistant", text(made.app())),
    "a thought": lambda made: made.message("assistant", {"type": "thinking", "thinking": made.app()}),
    "an artifact": lambda made: made.tool("artifacts", command="create", id="a", content=made.document()),
    "an artifact changed": lambda made: made.tool(
        "artifacts", command="update", id="a", old_str=made.app(), new_str=made.document()
    ),
    "a rewritten artifact": lambda made: made.tool("artifacts", command="rewrite", id="a", content=made.document()),
    "a created file": lambda made: made.tool("create_file", path="/a.md", file_text=made.document()),
    "a changed file": lambda made: made.tool("str_replace", path="/a.md", old_str="x", new_str=made.document()),
    "a search": lambda made: made.tool("web_search", query=made.app()),
    "an empty message": lambda made: made.message("assistant"),
    "a new kind": lambda made: made.message("assistant", {"type": "hologram", "data": made.app()}),
}


class ChatGpt(Made):
    def message(self, role: str, content: Any, **more: Any) -> None:
        parts: Event = {"content_type": "text", "parts": content} if isinstance(content, list) else content
        message: Event = {"author": {"role": role}, "content": parts} | more
        number = len(self.events)
        self.events.append({"parent": str(number - 1) if number else None, "message": message, "children": []})
        if number:
            self.events[number - 1]["children"].append(str(number))

    def canvas(self, tool: str, **fields: Any) -> None:
        name = f"canmore.{tool}"
        code = {"content_type": "code", "language": "json", "text": json.dumps(fields)}
        self.message("assistant", code, recipient=name)
        self.message("tool", [f"Successfully {self.app()}"], author={"role": "tool", "name": name})

    def records(self) -> list[ParsedRecord]:
        nodes = {str(number): node for number, node in enumerate(self.events)}
        return list(read_chatgpt([{"conversation_id": "g", "title": "Talk", "mapping": nodes}]))


POINTER = {"content_type": "image_asset_pointer", "asset_pointer": "file-service://x"}
CHATGPT: dict[str, Callable[[ChatGpt], object]] = {
    "a message": lambda made: made.message("user", [made.words()]),
    "parts": lambda made: made.message("user", [made.words(), made.words()]),
    "a picture": lambda made: made.message(
        "user", {"content_type": "multimodal_text", "parts": [POINTER, made.words()]}
    ),
    "a voice message": lambda made: made.message(
        "user",
        {
            "content_type": "multimodal_text",
            "parts": [
                {"content_type": "audio_transcription", "text": made.words(), "direction": "in"},
                {"content_type": "real_time_user_audio_video_asset_pointer"},
            ],
        },
    ),
    "a file alone": lambda made: made.message("user", [""], metadata={"attachments": [{"name": made.words()}]}),
    "a new kind of part": lambda made: made.message("user", [{"content_type": "hologram"}, made.words()]),
    "custom instructions": lambda made: made.message(
        "user", {"content_type": "user_editable_context", "user_profile": made.app()}
    ),
    "a hidden message": lambda made: made.message(
        "user", [made.app()], metadata={"is_visually_hidden_from_conversation": True}
    ),
    "an answer": lambda made: made.message("assistant", [made.app()]),
    "thoughts": lambda made: made.message("assistant", {"content_type": "thoughts", "thoughts": [made.app()]}),
    "code": lambda made: made.message("assistant", {"content_type": "code", "text": made.app()}, recipient="python"),
    "output": lambda made: made.message("tool", {"content_type": "execution_output", "text": made.app()}),
    "a canvas": lambda made: made.canvas("create_textdoc", name="Log", type="document", content=made.document()),
    "a changed canvas": lambda made: made.canvas(
        "update_textdoc", updates=[{"pattern": ".*", "multiple": False, "replacement": made.document()}]
    ),
    "a comment": lambda made: made.canvas("comment_textdoc", comments=[{"pattern": "x", "comment": made.document()}]),
    "an empty message": lambda made: made.message("assistant", [""]),
    "a new kind": lambda made: made.message("assistant", {"content_type": "hologram", "data": made.app()}),
}


class Gemini(Made):
    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.events.append({"sessionId": "s", "projectHash": "p", "startTime": self.at(), "kind": "main"})

    def message(self, kind: str, content: Any, **more: Any) -> Event:
        base = {"id": f"i{len(self.events)}", "timestamp": self.at(), "type": kind, "content": content}
        self.events.append(base | more)
        return self.events[-1]

    def set(self, **fields: Any) -> None:
        self.events.append({"$set": fields})

    def records(self) -> list[ParsedRecord]:
        return list(read_gemini(lines(*self.events), "file"))


def hook(made: Gemini) -> str:
    return f"<hook_context>{made.app()}\n&lt;{made.app()}&gt;</hook_context>"


def gemini_tool(made: Gemini) -> None:
    response = {"id": "t", "name": "read_file", "response": {"output": made.app()}}
    call = {"id": "t", "name": "read_file", "args": {"path": "a"}, "status": "success"}
    answer = made.message("gemini", made.app(), thoughts=[{"subject": made.app()}], model="g")
    made.events.append(answer | {"toolCalls": [call | {"result": [{"functionResponse": response}]}]})
    made.events.append(made.events[-1] | {"tokens": {"input": 5}})


def rewound(made: Gemini) -> None:
    asked = made.message("user", made.words())
    made.message("gemini", made.app())
    made.events.append({"$rewindTo": asked["id"]})
    made.message("user", made.words())


def history(made: Gemini) -> None:
    asked = made.message("user", [{"text": made.words()}])
    summary = {
        "id": made.app(),
        "type": "user",
        "content": [{"text": f"<state_snapshot>{made.app()}</state_snapshot>"}],
    }
    made.set(messages=[summary, asked, asked | {"id": made.app()}])


GEMINI: dict[str, Callable[[Gemini], object]] = {
    "a message": lambda made: made.message("user", made.words()),
    "parts": lambda made: made.message("user", [{"text": made.words()}, {"text": made.words()}]),
    "a hook's context behind": lambda made: made.message("user", f"{made.words()}{hook(made)}"),
    "a hook's context as a part": lambda made: made.message("user", [{"text": made.words()}, {"text": hook(made)}]),
    "a hook's context alone": lambda made: made.message("user", [{"text": hook(made)}]),
    "a referenced file": lambda made: made.message(
        "user",
        [
            {"text": f"@a.md {made.words()}"},
            {"text": "\n--- Content from referenced files ---"},
            {"text": f"\nContent from @a.md:\n{made.app()}\n--- End of content ---\n{made.app()}"},
            {"text": "\n--- End of content ---"},
            {"text": hook(made)},
        ],
    ),
    "a command": lambda made: made.message("user", made.app(), displayContent=[{"text": f"/fix {made.words()}"}]),
    "a picture": lambda made: made.message(
        "user", [{"inlineData": {"mimeType": "image/png", "data": "aGFsbG8="}}, {"text": made.words()}]
    ),
    "a picture alone": lambda made: made.message("user", [{"inlineData": {"mimeType": "image/png", "data": "aGk="}}]),
    "a tool's answer": lambda made: made.message("user", [{"functionResponse": {"response": {"output": made.app()}}}]),
    "an answer": lambda made: made.message("gemini", [{"text": made.app()}]),
    "a tool": gemini_tool,
    "rewound": rewound,
    "history": history,
    "a notice": lambda made: made.message(made.dice.choice(("info", "warning", "error")), made.app()),
    "a summary": lambda made: made.set(summary=made.app(), lastUpdated=made.at()),
    "an empty message": lambda made: made.message("gemini", ""),
    "a new kind": lambda made: made.message("hologram", made.app()),
}


class OpenCode(Made):
    def message(self, role: str, *parts: Event, **more: Any) -> None:
        info = {"id": f"msg_{len(self.events):05}", "sessionID": "ses_1", "role": role, "time": {"created": 1.78e12}}
        named = [part | {"id": f"prt_{len(self.events):05}_{number}"} for number, part in enumerate(parts)]
        self.events.append({"info": info | more, "parts": named})

    def session(self) -> Event:
        return {"info": {"id": "ses_1", "title": "Talk", "time": {"created": 1}}, "messages": self.events}

    def records(self) -> list[ParsedRecord]:
        return list(read_opencode(self.session(), "file"))


def opencode_tool(made: OpenCode, **state: Any) -> None:
    state = {"input": {"command": "ls"}, **state}
    tool = {"type": "tool", "callID": "t", "tool": "bash", "state": state}
    made.message("assistant", {"type": "step-start"}, text(made.app()), tool, {"type": "step-finish", "reason": "x"})


OPENCODE: dict[str, Callable[[OpenCode], object]] = {
    "a message": lambda made: made.message("user", text(made.words())),
    "parts": lambda made: made.message("user", text(made.words()), text(made.words())),
    "a file": lambda made: made.message(
        "user",
        text(f"@a.md {made.words()}"),
        text(f"Called the Read tool {made.app()}") | {"synthetic": True},
        {"type": "file", "mime": "text/plain", "filename": "a.md", "url": "file:///a.md"},
    ),
    "a picture alone": lambda made: made.message(
        "user", {"type": "file", "mime": "image/png", "filename": made.words(), "url": "data:image/png;base64,aGk="}
    ),
    "a plugin's notice": lambda made: made.message("user", text(made.app()) | {"ignored": True}),
    "an agent": lambda made: made.message("user", text(f"@plan {made.words()}"), {"type": "agent", "name": made.app()}),
    "a subtask": lambda made: made.message("user", {"type": "subtask", "prompt": made.words(), "agent": made.app()}),
    "a compaction": lambda made: made.message("user", {"type": "compaction", "auto": True}),
    "a compaction's summary": lambda made: made.message("assistant", text(made.app()), summary=True),
    "an answer": lambda made: made.message("assistant", text(made.app())),
    "a thought": lambda made: made.message("assistant", {"type": "reasoning", "text": made.app()}),
    "a tool": lambda made: opencode_tool(made, status="completed", output=made.app()),
    "a failed tool": lambda made: opencode_tool(made, status="error", error=made.app()),
    "a pending tool": lambda made: opencode_tool(made, status="pending"),
    "a patch": lambda made: made.message("assistant", {"type": "patch", "files": [made.app()]}, {"type": "snapshot"}),
    "an empty message": lambda made: made.message("assistant"),
    "a new kind": lambda made: made.message("assistant", {"type": "hologram", "data": made.app()}),
}

PROGRAMS: dict[type[Made], dict[str, Callable[[Any], object]]] = {
    Claude: CLAUDE,
    ChatGpt: CHATGPT,
    Gemini: GEMINI,
    OpenCode: OPENCODE,
}
KINDS = [(program, name) for program, kinds in PROGRAMS.items() for name in kinds]


def check(made: Made, records: list[ParsedRecord]) -> None:
    assert not any(isinstance(record, BadRecord) for record in records)
    own = list(own_messages(records))
    read = "\n".join(record.text for record in own)
    assert Counter({word: read.count(word) for word in made.typed}) == Counter(made.typed), made.events
    assert "app" not in read, "what the app wrote is no message of the user"
    answers = "\n".join(
        record.text for record in records if isinstance(record, ImportRecord) and record.role is Role.ASSISTANT
    )
    assert Counter({word: answers.count(word) for word in made.written}) == Counter(made.written)
    assert '"content"' not in answers and '"updates"' not in answers
    ids = [record.id for record in records if isinstance(record, ImportRecord)]
    assert len(ids) == len(set(ids))
    for record in records:
        assert not isinstance(record, ImportRecord) or not record.parent or record.parent in ids


@pytest.mark.parametrize(("program", "name"), KINDS, ids=[f"{kind.__name__}: {name}" for kind, name in KINDS])
def test_each_kind_alone(program: type[Made], name: str) -> None:
    for seed in range(6):
        made = program(seed)
        before = len(made.records())
        PROGRAMS[program][name](made)
        check(made, made.records())
        assert len(made.records()) > before, "a record is imported, or it is counted as skipped"
        if name == "a new kind":
            unknown = [record for record in made.records() if isinstance(record, Skipped)]
            assert [(record.kind, record.reason) for record in unknown][-1] == ("hologram", SkipReason.UNKNOWN)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("program", PROGRAMS)
def test_all_kinds_together(program: type[Made], seed: int) -> None:
    made = program(seed)
    for name in ("a message", *made.dice.choices(list(PROGRAMS[program]), k=40)):
        PROGRAMS[program][name](made)
    check(made, made.records())
