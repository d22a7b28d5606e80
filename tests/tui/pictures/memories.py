"""Memories with ids and times of their own, so that pictures of them are always the same."""

from datetime import datetime, timedelta
from typing import Final

from agent.services.conversation_tree import set_turn_label
from foundation.clock import to_ms
from foundation.privacy import EMPTY, clear
from memory.conversations import ImportedConversation
from memory.memory import Memory
from memory.records import EntryDraft, EntryKind
from memory.versions.cause import FOUND, Author, Cause
from models.messages import Role
from tests.tui.fakes import NOW

NOTES: Final = (
    (
        "Ann",
        "The boiler is serviced in May by Hansen; the warranty ends in 2027. 锅炉每年五月保养，保修期到2027年为止。 🙂",
    ),
    ("Ann", "Call Hansen about the boiler two weeks before.\n\n- keep the receipt\n- scan it\n- put it under memory/"),
    ("", "The boiler [red]valve[/] cost 12.50, the pump 140.00; both are ordered."),
)
CONVERSATIONS: Final = (
    ("c_tea", "Tea at four", 0, "At four?", "As ever."),
    ("c_boiler", "锅炉 🙂 The boiler", 1, "When is the boiler serviced? 锅炉什么时候保养？", "In May. 每年五月。"),
    ("c_harbour", "The harbour", 2, "Where is the lighthouse?", "Behind the mole."),
)


def write_notes(memory: Memory) -> None:
    """A conversation with three messages about a boiler."""
    house = memory.cold.new_conversation(clear("House"), id="c_house")
    for number, (speaker, text) in enumerate(NOTES):
        memory.cold.append(
            EntryDraft(
                conversation=house.seq,
                parent=None,
                kind=EntryKind.MESSAGE,
                role=Role.USER if speaker else Role.ASSISTANT,
                speaker=speaker,
                text=clear(text),
                id=f"e_{number}",
                time=NOW + timedelta(days=number),
            )
        )


def write_conversations(memory: Memory) -> None:
    """One conversation a day; that of the boiler has a label and two branches from its first answer."""
    stored = memory.conversations

    def said(id_: str, parent: int | None, role: Role, text: str, moment: datetime) -> int:
        draft = EntryDraft(
            conversation=conversation.seq,
            parent=parent,
            kind=EntryKind.MESSAGE,
            role=role,
            text=clear(text),
            id=clear(id_),
            time=moment,
        )
        return stored.append(draft).seq

    for id_, title, days, question, reply in CONVERSATIONS:
        moment = NOW - timedelta(days=days)
        (conversation,) = stored.open_imported(
            [ImportedConversation(EMPTY, clear(id_), clear(title), moment - timedelta(hours=1))]
        )
        first = said(f"e_{id_}1", None, Role.USER, question, moment - timedelta(minutes=9))
        answered = said(f"e_{id_}2", first, Role.ASSISTANT, reply, moment - timedelta(minutes=8))
        if id_ == "c_boiler":
            other = said("e_5", answered, Role.USER, "And the pump?", moment - timedelta(minutes=5))
            said("e_6", other, Role.ASSISTANT, "In June.", moment - timedelta(minutes=4))
            last = said("e_7", answered, Role.USER, "Who comes?", moment - timedelta(minutes=3))
            said("e_8", last, Role.ASSISTANT, "Ann.", moment - timedelta(minutes=2))
            set_turn_label(memory, conversation.seq, f"e_{id_}1", "start")
            stored.label(conversation.seq, clear("scope:house"))


def write_versions(memory: Memory) -> None:
    """MEMORY.md and AGENTS.md, each changed by hand and by a model's tool, on two days."""
    store, texts = memory.versions.store, {"MEMORY.md": "# Memory\n", "AGENTS.md": ""}
    by_model, by_hand = Cause(Author.MODEL, "tool remember in c_boiler"), Cause(Author.USER, "by hand")
    changes = (
        ("MEMORY.md", FOUND, "- The boiler is serviced in May.\n"),
        ("AGENTS.md", by_hand, "Answer briefly. 简短回答。\n"),
        ("MEMORY.md", by_model, "- Hansen comes on Tuesday. 锅炉保养：周二 🙂\n"),
        ("MEMORY.md", by_hand, "- [red]The valve[/] cost 12.50.\n- The pump cost 140.00.\n"),
        ("AGENTS.md", Cause(Author.MODEL, "tool edit_file in c_boiler"), "Use metres.\n"),
        ("MEMORY.md", Cause(Author.PROGRAM, "the day's notes of c_tea"), "- Tea at four.\n"),
    )
    for number, (name, cause, more) in enumerate(changes):
        texts[name] += more
        moment = NOW - timedelta(days=1) + timedelta(hours=7 * number)
        store.record(name, texts[name].encode(), cause, time_ms=to_ms(moment))
    for name, text in texts.items():
        (memory.workspace.root / name).write_text(text, encoding="utf-8")
