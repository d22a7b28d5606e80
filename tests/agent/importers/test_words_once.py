"""Each kind of record that Claude Code and Codex write: every word of the user is imported exactly once.

The kinds are those of Claude Code 2.0 to 2.1 and of the rollout items in openai/codex (`codex-rs/protocol`).
"""

import json
import random
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from agent.importers.agent_sessions import agent_format
from agent.importers.claude_code import AGENT, read_claude_code
from agent.importers.codex import read_codex
from agent.importers.record import BadRecord, ImportRecord, ParsedRecord
from agent.importers.skipped import Skipped, SkipReason
from models.messages import Role
from tests.agent.importers.stored import lines

SEEDS = range(60)
Event = dict[str, Any]


class Session:
    """Makes events of one session, and notes which words are the user's. Others begin with `app`."""

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)
        self.events: list[Event] = []
        self.typed: list[str] = []
        self._number = 0

    def words(self) -> str:
        self._number += 1
        word = f"typed{self._number}x"
        self.typed.append(word)
        return self.dice.choice((f"Please {word} now", f"{word}\n\nand then <b>rest</b>", f"把{word}改好"))

    def app(self) -> str:
        self._number += 1
        return f"app{self._number}x"

    def at(self) -> str:
        self._number += 1
        return f"2026-03-01T{10 + self._number // 3600:02}:{self._number // 60 % 60:02}:{self._number % 60:02}.000Z"


class ClaudeCode(Session):
    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.last: str | None = None

    def event(self, kind: str, **more: Any) -> None:
        self._number += 1
        key = f"u{self._number}"
        base = {"type": kind, "uuid": key, "parentUuid": self.last, "sessionId": "s", "timestamp": self.at()}
        self.events.append(base | {"isSidechain": False} | more)
        self.last = key

    def user(self, content: Any, **more: Any) -> None:
        self.event("user", message={"role": "user", "content": content}, **more)

    def answer(self, *blocks: Event) -> None:
        message = {"id": self.app(), "role": "assistant", "content": list(blocks or [text(self.app())])}
        self.event("assistant", message=message)

    def queue(self, operation: str, **more: Any) -> None:
        base = {"type": "queue-operation", "operation": operation, "timestamp": self.at(), "sessionId": "s"}
        self.events.append(base | more)

    def queued(self, prompt: Any, mode: str = "prompt") -> None:
        self.event("attachment", attachment={"type": "queued_command", "prompt": prompt, "commandMode": mode})


def text(words: str) -> Event:
    return {"type": "text", "text": words}


def reminder(made: Session) -> str:
    return f"<system-reminder>\n{made.app()}\n</system-reminder>"


PICTURE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGFsbG8="}}


def command(made: Session) -> str:
    name, args = "<command-name>/review</command-name>", f"<command-args>{made.words()}</command-args>"
    message = f"<command-message>{made.app()} is running…</command-message>"
    return "\n".join(made.dice.choice(((message, name, args), (name, message, args))))


def absorbed(made: ClaudeCode) -> None:
    words, form = made.words(), made.dice.randrange(4)
    made.answer({"type": "tool_use", "id": (call := made.app()), "name": "Bash", "input": {}})
    made.queue("enqueue", content=words)
    made.user([{"type": "tool_result", "tool_use_id": call, "content": made.app()}])
    if form == 0:
        made.queued(words)
    if form < 3:
        made.queue("remove", content=words, reason="absorbed_mid_turn")
    if form in {1, 3}:
        made.queued([text(words)] if made.dice.random() < 0.5 else words)
    made.answer()


def sent_from_the_queue(made: ClaudeCode) -> None:
    words = [made.words(), made.words()]
    made.queue("enqueue", content=words[0])
    made.queue("enqueue", content=words[1])
    for each in words:
        made.queue("dequeue")
        made.user(each, promptSource="queued")
    made.answer()


def never_sent(made: ClaudeCode) -> None:
    words = made.words()
    made.answer()
    made.queue("enqueue", content=words)
    made.answer()
    made.user(made.words())
    if made.dice.random() < 0.5:
        made.user(words)


def taken_back(made: ClaudeCode) -> None:
    words = made.words()
    made.queue("enqueue", content=words)
    made.queue("popAll", **made.dice.choice(({"content": words}, {})))
    made.user(words)


def notified(made: ClaudeCode) -> None:
    note = f"<task-notification>\n<task-id>{made.app()}</task-id>\n{made.app()}\n</task-notification>"
    note = made.dice.choice((note, json.dumps({"task_id": made.app(), "tool_use_id": made.app()})))
    made.queue("enqueue", content=note)
    made.queue("dequeue")
    made.queued(f"<task-notification>{made.app()}</task-notification>", "task-notification")


def delegated(made: ClaudeCode) -> None:
    prompt, main = f"{made.app()} prompt", made.last
    made.answer({"type": "tool_use", "id": (call := made.app()), "name": "Task", "input": {"prompt": prompt}})
    called = made.last
    made.last = None
    made.user(prompt, isSidechain=True, agentId="a1")
    made.event(
        "assistant", message={"id": made.app(), "role": "assistant", "content": [text(made.app())]}, isSidechain=True
    )
    made.last = called or main
    made.user([{"type": "tool_result", "tool_use_id": call, "content": [text(made.app())]}])


CLAUDE_CODE: dict[str, Callable[[ClaudeCode], object]] = {
    "a message": lambda made: made.user(made.words()),
    "blocks": lambda made: made.user([text(made.words()), text(made.words())]),
    "a reminder before": lambda made: made.user([text(reminder(made)), text(made.words())]),
    "a reminder behind": lambda made: made.user(f"{made.words()}\n{reminder(made)}"),
    "a reminder in the same text": lambda made: made.user(f"{reminder(made)}\n{reminder(made)}{made.words()}"),
    "a reminder alone": lambda made: made.user([text(reminder(made))]),
    "an editor's file": lambda made: made.user(
        [text(f"<ide_opened_file>The user opened {made.app()}</ide_opened_file>"), text(made.words())]
    ),
    "an editor's selection": lambda made: made.user(f"<ide_selection>{made.app()}</ide_selection>{made.words()}"),
    "a command": lambda made: made.user(command(made)),
    "a command without arguments": lambda made: made.user(
        f"<command-name>/{made.app()}</command-name>\n<command-args></command-args>"
    ),
    "a local command": lambda made: made.event("system", subtype="local_command", content=command(made)),
    "a local command's output": lambda made: made.event(
        "system", subtype="local_command", content=f"<local-command-stdout>{made.app()}</local-command-stdout>"
    ),
    "bash": lambda made: made.user(f"<bash-input>ls {made.words()}</bash-input>"),
    "bash output": lambda made: made.user(f"<bash-stdout>{made.app()}</bash-stdout><bash-stderr></bash-stderr>"),
    "a memory": lambda made: made.user(f"<user-memory-input>{made.words()}</user-memory-input>"),
    "a paste": lambda made: made.user(f'{made.words()}\n<pasted_content id="57">\n{made.words()}\n</pasted_content>'),
    "tags of the user's own": lambda made: made.user(f"<div>{made.words()}</div>\n<system-reminder>is {made.words()}"),
    "a picture alone": lambda made: made.user([PICTURE]),
    "a picture and words": lambda made: made.user([PICTURE, text(made.words())]),
    "an interruption": lambda made: made.user([text("[Request interrupted by user for tool use]")]),
    "a caveat": lambda made: made.user(
        f"Caveat: The messages below were generated by the user while running local commands. {made.app()}"
    ),
    "a meta message": lambda made: made.user(made.app(), isMeta=True),
    "a compaction": lambda made: made.user(f"This session is being continued {made.app()}", isCompactSummary=True),
    "a message without an id": lambda made: made.events.append(
        {"type": "user", "sessionId": "s", "timestamp": made.at(), "message": {"role": "user", "content": made.words()}}
    ),
    "an answer": lambda made: made.answer(),
    "a thought": lambda made: made.answer({"type": "thinking", "thinking": made.app()}),
    "an empty answer": lambda made: made.answer(text("")),
    "a new kind of block": lambda made: made.answer(text(made.app()), {"type": "hologram", "data": made.app()}),
    "absorbed": absorbed,
    "sent from the queue": sent_from_the_queue,
    "never sent": never_sent,
    "taken back": taken_back,
    "notified": notified,
    "delegated": delegated,
    "a title": lambda made: made.events.append({"type": "ai-title", "aiTitle": made.app(), "sessionId": "s"}),
    "a last prompt": lambda made: made.events.append({"type": "last-prompt", "lastPrompt": made.app()}),
    "an attachment": lambda made: made.event("attachment", attachment={"type": "todo_reminder", "content": made.app()}),
    "a system event": lambda made: made.event("system", subtype="turn_duration", durationMs=5),
    "a new kind": lambda made: made.events.append({"type": "hologram", "sessionId": "s", "content": made.app()}),
}


class Codex(Session):
    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.line("session_meta", id="c", cwd="/p")

    def line(self, kind: str, **payload: Any) -> None:
        self.events.append({"timestamp": self.at(), "type": kind, "payload": payload})

    def item(self, kind: str, **fields: Any) -> None:
        self.line("response_item", type=kind, **fields)

    def message(self, *texts: str, role: str = "user", more: tuple[Event, ...] = ()) -> None:
        kind = "input_text" if role == "user" else "output_text"
        content = [{"type": kind, "text": words} for words in texts]
        self.item("message", role=role, content=[*content, *more])

    def typed_event(self, words: str) -> None:
        self.line("event_msg", type="user_message", message=words, images=[])

    def both(self, words: str, event: str = "") -> None:
        first, second = (lambda: self.message(words)), (lambda: self.typed_event(event or words))
        for write in self.dice.choice(((first, second), (second, first))):
            write()


def ide(made: Codex) -> str:
    head = made.dice.choice(
        (
            f"# Context from my IDE setup:\n\n## Active file: {made.app()}\n\n## Open tabs:\n- {made.app()}: x",
            f"# Files mentioned by the user:\n\n## {made.app()}.png: /tmp/{made.app()}.png",
        )
    )
    return f"{head}\n\n## My request for Codex:\n{made.words()}"


def called(made: Codex, kind: str, output: str, **fields: Any) -> None:
    call = made.app()
    made.item(kind, call_id=call, **fields)
    made.item(output, call_id=call, output=made.app())


CODEX_PICTURE = ({"type": "input_image", "image_url": "data:image/png;base64,aGFsbG8="},)
CODEX: dict[str, Callable[[Codex], object]] = {
    "a message": lambda made: made.message(made.words()),
    "a message and its event": lambda made: made.both(made.words()),
    "an event alone": lambda made: made.typed_event(made.words()),
    "an editor's context": lambda made: made.message(ide(made)),
    "an editor's context and its event": lambda made: made.both(*[ide(made)] * 2),
    "the environment before": lambda made: made.message(
        f"<environment_context>\n<cwd>{made.app()}</cwd>\n</environment_context>", made.words()
    ),
    "the environment in the same text": lambda made: made.message(
        f"<environment_context>{made.app()}</environment_context>\n{made.words()}"
    ),
    "instructions": lambda made: made.message(
        f"# AGENTS.md instructions for /p\n\n<INSTRUCTIONS>\n{made.app()}\n</INSTRUCTIONS>"
    ),
    "older instructions": lambda made: made.message(f"<user_instructions>\n{made.app()}\n</user_instructions>"),
    "an aborted turn": lambda made: made.message(f"<turn_aborted>\n{made.app()}\n</turn_aborted>"),
    "a skill": lambda made: made.message(f"<skill>\n<name>{made.app()}</name>\n{made.app()}\n</skill>"),
    "a shell command": lambda made: made.message(
        f"<user_shell_command>\n<command>\nls {made.words()}\n</command>\n<result>\n{made.app()}\n</result>\n"
        "</user_shell_command>"
    ),
    "tags of the user's own": lambda made: made.message(f"<div>{made.words()}</div>\n<skill>is {made.words()}"),
    "a picture": lambda made: made.message("<image name=[Image #1]>", "</image>", made.words(), more=CODEX_PICTURE),
    "a picture alone": lambda made: made.message("<image name=[Image #1]>", "</image>", more=CODEX_PICTURE),
    "permissions": lambda made: made.message(made.app(), role="developer"),
    "an answer": lambda made: made.message(made.app(), role="assistant"),
    "an answer's event": lambda made: made.line("event_msg", type="agent_message", message=made.app()),
    "a thought": lambda made: made.item("reasoning", summary=[], encrypted_content=made.app()),
    "a call": lambda made: called(made, "function_call", "function_call_output", name="shell", arguments="{}"),
    "a custom call": lambda made: called(made, "custom_tool_call", "custom_tool_call_output", name="x", input="y"),
    "a local shell call": lambda made: called(
        made, "local_shell_call", "function_call_output", action={"type": "exec", "command": ["ls"]}
    ),
    "a web search": lambda made: made.item("web_search_call", action={"type": "search", "query": made.app()}),
    "a review": lambda made: made.line(
        "event_msg", type="entered_review_mode", target={"type": "custom", "instructions": made.words()}
    ),
    "a review of changes": lambda made: made.line(
        "event_msg", type="entered_review_mode", target={"type": "uncommittedChanges"}, user_facing_hint=made.app()
    ),
    "tokens": lambda made: made.line("event_msg", type="token_count", info=None),
    "a turn": lambda made: made.line("turn_context", cwd="/p", model=made.app()),
    "a compaction": lambda made: made.line("compacted", message=made.app(), replacement_history=[]),
    "a snapshot": lambda made: made.item("ghost_snapshot", ghost_commit={"id": made.app()}),
    "a new kind of item": lambda made: made.item("hologram", data=made.app()),
    "a new kind": lambda made: made.line("hologram", data=made.app()),
}


def records_of(made: Session) -> list[ParsedRecord]:
    read = read_claude_code if isinstance(made, ClaudeCode) else read_codex
    return list(read(lines(*made.events), "file"))


def own_messages(records: list[ParsedRecord]) -> Iterator[ImportRecord]:
    yield from (
        record
        for record in records
        if isinstance(record, ImportRecord) and record.role is Role.USER and record.speaker != AGENT
    )


def check(made: Session) -> None:
    records = records_of(made)
    assert not any(isinstance(record, BadRecord) for record in records)
    read = "\n".join(record.text for record in own_messages(records))
    counted = Counter({word: read.count(word) for word in made.typed})
    assert counted == Counter(made.typed), made.events
    names = [word for record in own_messages(records) for word in record.text.split() if word.startswith("app")]
    assert not names, "what the app wrote is no message of the user"
    titles = {record.title for record in records if isinstance(record, ImportRecord)}
    assert not any("app" in title or title.replace("<div>", "").startswith("<") for title in titles if title), titles
    if isinstance(made, ClaudeCode):
        check_chain([record for record in records if isinstance(record, ImportRecord)])


def check_chain(records: list[ImportRecord]) -> None:
    """Each record comes after its parent, and those of the main agent that have an id are one chain."""
    read = {""}
    for record in records:
        assert record.parent is None or record.parent in read, record
        read.add(record.id)
    main = [record for record in records if record.id and not record.beside]
    assert [record.parent for record in main] == ["", *[record.id for record in main]][: len(main)]


KINDS = [(ClaudeCode, name) for name in CLAUDE_CODE] + [(Codex, name) for name in CODEX]


def write(made: Session, name: str) -> None:
    if isinstance(made, ClaudeCode):
        CLAUDE_CODE[name](made)
    if isinstance(made, Codex):
        CODEX[name](made)


@pytest.mark.parametrize(("program", "name"), KINDS, ids=[f"{kind.__name__}: {name}" for kind, name in KINDS])
def test_each_kind_alone(program: type[Session], name: str) -> None:
    for seed in range(8):
        made = program(seed)
        before = len(records_of(made))
        write(made, name)
        check(made)
        assert len(records_of(made)) > before, "a record is imported, or it is counted as skipped"
        if "new kind" in name:
            unknown = [record for record in records_of(made) if isinstance(record, Skipped)]
            assert [(record.kind, record.reason) for record in unknown][-1] == ("hologram", SkipReason.UNKNOWN)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("program", [ClaudeCode, Codex])
def test_all_kinds_together(program: type[Session], seed: int) -> None:
    made = program(seed)
    write(made, "a message")
    names = [name for kind, name in KINDS if kind is program]
    for name in made.dice.choices(names, k=40):
        write(made, name)
    check(made)
    assert agent_format(lines(*made.events)) == ("codex" if program is Codex else "claude-code")
