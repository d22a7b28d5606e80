"""What is no evidence for a message: questions, fragments, and what tools gave in other conversations."""

import pytest

from foundation.privacy import clear
from memory.records import EntryDraft, EntryKind
from memory.search import Query
from models.messages import Role
from tests.context.conversation import Talk

FACT = "The greenhouse key hangs behind the blue door."


def elsewhere(talk: Talk, *turns: tuple[Role, str], kind: EntryKind = EntryKind.MESSAGE) -> None:
    """Another conversation of these turns."""
    conversation = talk.memory.cold.new_conversation(clear("elsewhere"))
    for role, text in turns:
        draft = EntryDraft(
            conversation=conversation.seq,
            parent=None,
            kind=kind,
            role=role,
            text=clear(text),
            speaker=clear("run_command" if role is Role.TOOL else ""),
            time=talk.clock.now(),
        )
        talk.memory.cold.append(draft)
        talk.clock.advance(60)


def recalled(talk: Talk, message: str) -> list[str]:
    return [part.text for part in sorted(talk.send(message).recalled, key=lambda part: part.rank)]


@pytest.mark.parametrize(
    "asked", ["Where is the greenhouse key?", "where is the greenhouse key", "Find the greenhouse key"]
)
def test_an_earlier_question_is_not_recalled_nor_found_before_its_answer(talk: Talk, asked: str) -> None:
    elsewhere(talk, (Role.USER, FACT))
    for _ in range(2):
        elsewhere(talk, (Role.USER, asked), (Role.ASSISTANT, "I do not know."))
    assert talk.memory.search.query(Query(text="Where does the greenhouse key hang?")).hits[0].snippet == FACT
    assert talk.memory.search.query(Query(text=asked)).hits[0].snippet == FACT
    assert recalled(talk, "Where is the key of the greenhouse?") == [FACT]


def test_an_earlier_question_in_chinese_is_not_found_before_its_answer(talk: Talk) -> None:
    elsewhere(talk, (Role.USER, "我坐的航班是国航CA981，靠窗。"))
    elsewhere(talk, (Role.USER, "我坐的是哪个航班"), (Role.ASSISTANT, "没有找到。"))
    assert talk.memory.search.query(Query(text="我坐的是哪个航班？")).hits[0].snippet.startswith("我坐的航班是国航")


@pytest.mark.parametrize("fragment", ["Step 1.", "Done, see above.", "1."])
def test_a_few_words_that_stand_beside_what_matches_are_not_recalled(talk: Talk, fragment: str) -> None:
    elsewhere(
        talk, (Role.USER, "The greenhouse key, where is the greenhouse key hanging now?"), (Role.ASSISTANT, fragment)
    )
    elsewhere(talk, (Role.USER, FACT))
    assert recalled(talk, "Where is the greenhouse key?") == [FACT]


def test_what_tools_gave_elsewhere_comes_after_what_was_said_and_is_nothing_for_a_task(talk: Talk) -> None:
    elsewhere(talk, (Role.TOOL, "greenhouse key.txt: 1 replacement, greenhouse key"), kind=EntryKind.TOOL_RESULT)
    elsewhere(talk, (Role.USER, FACT))
    assert recalled(talk, "Where is my greenhouse key?")[0] == FACT
    assert not any("replacement" in text for text in recalled(talk, "Write my greenhouse key list into key.txt"))
