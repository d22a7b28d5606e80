"""Within an epoch request n+1 begins with the whole of request n, whatever is said, edited or called between."""

import tempfile
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from msgspec import structs

from context import AssembledRequest, Attachment
from foundation.paths import Workspace
from models.chat.openai.request import messages
from models.chat.port import ImageRule
from models.messages import Role, Tool, ToolCall, ToolResult
from models.tokens import request_tokens
from tests.context.conversation import Talk, begins_with
from tests.examples import examples
from tests.fakes import FakeClock

pytestmark = pytest.mark.timeout(60)  # by the wall clock: a busy machine takes ten times as long

WORDS = st.sampled_from(
    [
        "",
        "When does CA1234 leave?",
        "hello " * 40,
        "我们明天见面吧。" * 12,
        "pay $300 <private>pin 4711</private>",
        "key ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8",
        "packing list please",
    ]
)
ANSWERS = st.one_of(st.none(), st.sampled_from(["Fine.", "word " * 120, "", "好的。" * 30]))
SYSTEM = """\
version: 1
abilities: [You help.]
rules:
  - {name: flights, when: {entity: flight_number}, then: [Say when check-in opens.]}
"""
SKILL = "---\nname: packing\ndescription: Make a list.\ntriggers: [packing list]\n---\nCount the days.\n"
TOOL = Tool("search_memory", "Search.", {"type": "object"})


class Conversations(RuleBasedStateMachine):
    """A person talks, edits, resumes, and the model calls tools."""

    @initialize(window=st.sampled_from([2048, 4096, 16_384]), images=st.sampled_from([ImageRule.NONE, ImageRule.QWEN3]))
    def open(self, window: int, images: ImageRule) -> None:
        self.folder = tempfile.TemporaryDirectory()
        workspace = Workspace(Path(self.folder.name) / "w")
        workspace.root.mkdir()
        self.talk = Talk(workspace, FakeClock(), window=window)
        self.talk.profile = structs.replace(self.talk.profile, name="qwen3-vl", images=images)
        self.talk.tools = (TOOL,)
        self.talk.write("system.yaml", SYSTEM)
        self.talk.write("AGENTS.md", "Be brief and kind.\n")
        self.talk.write("skills/packing/SKILL.md", SKILL)
        self.last: AssembledRequest | None = None
        self.calls = 0
        self.notes = 0

    @rule(text=WORDS, answer=ANSWERS)
    def say(self, text: str, answer: str | None) -> None:
        self.check(self.talk.send(text, answer))

    @rule(text=WORDS)
    def attach(self, text: str) -> None:
        attachment = Attachment("event.json", "application/json", b'{"title": "Nap", "start": "14:00"}')
        self.check(self.talk.send(text, "Noted.", attachments=(attachment,)))

    @precondition(lambda self: self.talk.conversation is not None)
    @rule(output=st.sampled_from(["short", "long " * 150, "行" * 80]), answer=ANSWERS)
    def use_tools(self, output: str, answer: str | None) -> None:
        self.check(self.talk.send("Look it up.", None))
        for _ in range(2):
            self.calls += 1
            self.talk.call_tool(f"call_{self.calls}", output)
            self.check(self.talk.go_on())
        if answer is not None:
            self.talk.append(Role.ASSISTANT, answer)

    @precondition(lambda self: self.talk.conversation is not None)
    @rule()
    def stop_before_the_tool_ran(self) -> None:
        self.calls += 1
        self.check(self.talk.send("Look it up, no, wait.", None))
        calls = [{"id": f"call_{self.calls}", "name": "search_memory", "arguments": "{}"}]
        self.talk.append(Role.ASSISTANT, "Looking.", meta={"tool_calls": calls})

    @rule()
    def remember(self) -> None:
        self.notes += 1
        self.talk.clock.advance(1)
        path = self.talk.workspace.memory_md
        held = path.read_text(encoding="utf-8") if path.exists() else "# Memory\n"
        entry = (
            f"\n<!-- 2026-03-14T10:{self.notes % 60:02d}:00Z -->\n## Note {self.notes}\n- Ann likes tea {self.notes}\n"
        )
        path.write_text(held + entry, encoding="utf-8")

    @rule()
    def change_a_skill(self) -> None:
        self.notes += 1
        self.talk.write("skills/packing/SKILL.md", SKILL + f"{self.notes}\n")

    @rule()
    def edit_the_agents(self) -> None:
        self.notes += 1
        self.talk.write("AGENTS.md", f"Be brief, {self.notes}.\n")

    @rule()
    def change_only_a_rule(self) -> None:
        self.notes += 1
        self.talk.write("system.yaml", SYSTEM.replace("opens.", f"opens, {self.notes}."))

    @rule()
    def resume_in_another_process(self) -> None:
        private = bool(self.talk.context.state.history.overlay)  # what only this process may know
        self.talk.reopen()
        if private:
            self.last = None

    @invariant()
    def the_last_request_keeps_the_budget(self) -> None:
        if getattr(self, "last", None) is None:
            return
        report = self.last.report
        assert sum(layer.tokens for layer in report.layers) == report.total_tokens
        assert report.total_tokens <= report.window - report.reserve
        images = self.talk.profile.images
        assert request_tokens(self.last.request, self.talk.counter, images) == report.total_tokens
        assert all(layer.tokens <= layer.budget for layer in report.layers)
        assert sum(layer.budget for layer in report.layers) == report.window - report.reserve
        for layer in report.layers:
            assert sum(source.tokens for source in layer.sources) == layer.tokens
        assert sum(zone.tokens for zone in report.zones) == report.total_tokens

    def check(self, now: AssembledRequest) -> None:
        if self.last is not None and not now.epoch_changed:
            assert begins_with(now.request, self.last.request)
            assert now.report.unchanged_prefix_tokens == now.report.previous_tokens
        assert now.compaction is None
        roles = [message["role"] for message in messages(now.request.messages, vision=True)]
        assert all(a != b or a == "tool" for a, b in pairwise(roles)), roles
        parts = [part for message in now.request.messages for part in message.parts]
        asked = [part.id for part in parts if isinstance(part, ToolCall)]
        assert asked == [part.call_id for part in parts if isinstance(part, ToolResult)]
        self.last = now

    def teardown(self) -> None:
        self.talk.close()
        self.folder.cleanup()


TestConversations = Conversations.TestCase
TestConversations.settings = settings(
    max_examples=examples(14),
    stateful_step_count=18,
    deadline=None,
    derandomize=True,
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=list(HealthCheck),
)
