"""What a server reads again, as the prompts of real chat templates show it: only what changed, and what follows it."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from context import AssembledRequest
from foundation.privacy import clear
from models.chat.openai.request import messages, tools
from models.chat.text_tools.prompt import as_text
from models.messages import Tool
from tests.chat_templates import DATED, MOVING, TEMPLATES, WITHOUT_TOOLS
from tests.context.conversation import Talk
from tests.context.layers.test_observations import put_decision

jinja2 = pytest.importorskip("jinja2", reason="comes with mlx-lm")
TOOLS = tuple(
    Tool(name, f"{name} does its work.", {"type": "object", "properties": {"query": {"type": "string"}}})
    for name in ("memory_search", "recall", "remember")
)
STEADY = sorted(TEMPLATES.keys() - MOVING)
MEMORY, INDEX, SUMMARY = "<palimpsest-memory-", "<palimpsest-observations-", "<palimpsest-summary-"
Render = Callable[[AssembledRequest], str]


def renderer(name: str, today: str = "2026-11-28") -> Render:
    template: Any = jinja2.Environment(trim_blocks=False).from_string(TEMPLATES[name])

    def refuse(reason: str) -> None:
        raise ValueError(reason)

    def render(assembled: AssembledRequest) -> str:
        wire, offered = messages(assembled.request.messages, vision=False), tools(assembled.request.tools)
        if name in WITHOUT_TOOLS:
            wire, offered = as_text(wire, assembled.request.tools), []
        return template.render(
            messages=wire, tools=offered, add_generation_prompt=True, today=today, raise_exception=refuse
        )

    return render


@pytest.fixture
def notes(talk: Talk) -> Iterator[Talk]:
    """A workspace with text in every part of the head. Nothing is recalled."""
    talk.switch_recall_off()
    talk.tools = TOOLS
    talk.write("AGENTS.md", "Be brief.\n")
    talk.write("SOUL.md", "Be warm.\n")
    talk.write("skills/packing/SKILL.md", "---\nname: packing\ndescription: Make a list.\n---\nCount the days.\n")
    talk.write("MEMORY.md", "# Memory\n\n<!-- 2026-03-01T10:00:00Z -->\n## Tea\n- Ann drinks tea\n")
    put_decision(talk, "We decided to keep SQLite for the queue of jobs.")
    talk.conversation = None
    yield talk


def begin(talk: Talk, text: str) -> AssembledRequest:
    """The first request of a new conversation."""
    talk.conversation = talk.memory.cold.new_conversation(clear("Talk"))
    return talk.send(text)


def read_again(before: str, after: str) -> str:
    """The part of the second prompt that a server reads which has read the first."""
    pairs = enumerate(zip(before, after, strict=False))
    return after[next((n for n, (one, other) in pairs if one != other), len(before)) :]


@pytest.mark.parametrize("name", STEADY)
def test_a_second_conversation_reads_its_question_alone(notes: Talk, name: str) -> None:
    render = renderer(name)
    first = render(begin(notes, "Hello there."))
    assert all(mark in first for mark in (MEMORY, INDEX, "Ann drinks tea", "keep SQLite", TOOLS[-1].name))
    notes.clock.advance(7 * 24 * 3600)
    notes.reopen()
    second = render(begin(notes, "What time is it?"))
    assert read_again(first, second).startswith("What time is it?")


@pytest.mark.parametrize("name", STEADY)
def test_a_turn_reads_what_is_new(notes: Talk, name: str) -> None:
    render = renderer(name)
    first = render(begin(notes, "Hello there."))
    second = render(notes.send("What time is it?"))
    assert second.startswith(first) and second[len(first) :].startswith(("Fine.", "<|channel|>final<|message|>Fine."))


@pytest.mark.parametrize("name", STEADY)
def test_after_an_edit_of_the_memory_all_before_it_stays(notes: Talk, name: str) -> None:
    render = renderer(name)
    first = render(begin(notes, "Hello there."))
    notes.write("MEMORY.md", "# Memory\n\n<!-- 2026-03-01T10:00:00Z -->\n## Tea\n- Ann drinks coffee\n")
    again = read_again(first, render(begin(notes, "Hello there.")))
    assert again.startswith("coffee")
    assert TOOLS[-1].description not in again


@pytest.mark.parametrize("name", STEADY)
def test_a_new_observation_costs_the_index_and_what_follows(notes: Talk, name: str) -> None:
    render = renderer(name)
    first = render(begin(notes, "Hello there."))
    put_decision(notes, "We decided to use port 9090.")
    again = read_again(first, render(begin(notes, "Hello there.")))
    assert "port 9090" in again
    assert MEMORY not in again and TOOLS[-1].description not in again


@pytest.mark.parametrize("name", STEADY)
def test_a_compaction_keeps_all_before_the_summary(notes: Talk, name: str) -> None:
    render = renderer(name)
    before = after = begin(notes, "Hello there.")
    while not notes.receipts:
        before, after = after, notes.send("Tell me more.", "And so it went on and on. " * 150)
    prompt = render(after)
    assert prompt.index(INDEX) < prompt.index(SUMMARY)
    again = read_again(render(before), prompt)
    assert SUMMARY.removeprefix("<") in again
    assert MEMORY not in again and TOOLS[-1].description not in again


@pytest.mark.parametrize("name", sorted(MOVING))
def test_a_template_that_moves_the_tools_reads_them_with_each_turn(notes: Talk, name: str) -> None:
    render = renderer(name)
    first = render(begin(notes, "Hello there."))
    second = render(begin(notes, "What time is it?"))
    assert read_again(first, second).startswith("What time is it?")
    assert TOOLS[-1].description in read_again(second, render(notes.send("And now?")))


@pytest.mark.parametrize("name", sorted(DATED))
def test_a_template_with_the_day_reads_all_once_a_day(notes: Talk, name: str) -> None:
    assembled = begin(notes, "Hello there.")
    first, second = renderer(name)(assembled), renderer(name, "2026-11-29")(assembled)
    assert read_again(first, second).startswith("9\n")
