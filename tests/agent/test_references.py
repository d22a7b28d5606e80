"""Every face resolves every kind of reference to the same passage, and says the same where there is none."""

import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from msgspec import Struct

from agent.services.browse import full_passage
from agent.services.live_search import find_rows
from agent.services.recall import recall_markdown
from agent.tools.memory.recall import RecallPassage
from agent.tools.port import ToolRun
from context.pages.lookup import by_reference
from context.recall.citations import resolve_citations
from foundation.errors import PalimpsestError
from foundation.paths import Workspace
from foundation.privacy import as_given, clear
from memory import recall_memory
from memory.errors import NotFound
from memory.memory import Memory
from memory.records import EntryDraft, EntryKind
from models.messages import Role
from tests.agent.conftest import Run

UNSTOPPED = ToolRun("e_test", threading.Event())
LETTER = "".join(f"Line {n} tells of the boiler and the ferry.\n" for n in range(120))
SPOKEN = "The ferry to Hydra leaves at 09:40."
IMPORTED = "The spare key lies in the blue tin."
NOTED = "The boiler is serviced in May."


class Known(Struct, frozen=True):
    """References to what is there, by kind, each with the text that it names."""

    texts: dict[str, tuple[str, str]]


KINDS = (
    "entry",
    "beginning",
    "imported",
    "page",
    "note",
    "anchor",
    "line",
    "label",
    "number",
    "spaced label",
    "citation",
    "archive citation",
)
MISSING = {
    "entry": "e_nothere00000",
    "page": "pg_000000000000",
    "note": "m_00000000",
    "anchor": "MEMORY.md#L900-L901",
    "line": "MEMORY.md:900",
    "number": "#99",
    "citation": "[House · Ann · 2026-03-14 · e_nothere00000]",
}


@pytest.fixture
def known(root: Path) -> Known:
    """A workspace with something of each kind."""
    memory = Memory.open(Workspace(root))
    conversation = memory.cold.new_conversation(as_given("Ferries"), id="ferries").seq

    def put(text: str, id_: str | None = None) -> str:
        draft = EntryDraft(
            conversation=conversation,
            parent=None,
            kind=EntryKind.MESSAGE,
            role=Role.USER,
            text=as_given(text),
            speaker="Ann",
            **({"id": id_} if id_ else {}),
        )
        return memory.cold.append(draft).id

    spoken, imported = put(SPOKEN), put(IMPORTED, "t1")
    note = memory.hot.remember(clear(NOTED))
    archived = memory.vault.archive_text(as_given(LETTER), label="house", mode="tiny")
    memory.vault.archive_text(as_given("An older letter."), label="house letters", mode="tiny")
    page = archived.pages[0]
    first = memory.vault.read_page(page.id).text
    text = memory.hot.note(note.id).text
    cited = str(memory.recall(spoken)[0].citation)
    texts = {
        "entry": (spoken, SPOKEN),
        "beginning": (spoken[:-3], SPOKEN),
        "imported": (imported, IMPORTED),
        "page": (page.id, first),
        "note": (note.id, text),
        "anchor": (f"MEMORY.md#L{note.line_first}-L{note.line_last}", text),
        "line": (f"MEMORY.md:{note.line_last}", text),
        "label": ("house", LETTER),
        "number": (f"#{archived.seq}", LETTER),
        "spaced label": ("house letters", "An older letter."),
        "citation": (cited, SPOKEN),
        "archive citation": (str(memory.recall("house")[0].citation), LETTER),
    }
    memory.close()
    return Known(texts)


@pytest.fixture
def memory(root: Path, known: Known) -> Iterator[Memory]:
    opened = Memory.open(Workspace(root))
    yield opened
    opened.close()


def tool(memory: Memory, ref: str) -> str:
    return json.loads(RecallPassage(memory).run({"ref": ref}, UNSTOPPED))["text"]


def slash(memory: Memory, ref: str) -> str:
    """`/recall` without a screen: the text is what stands in its fence."""
    return recall_markdown(memory, ref).partition("```text\n")[2].removesuffix("\n```")


def screen(memory: Memory, ref: str) -> str:
    row = find_rows(memory, ref).rows[0]
    return full_passage(memory, row).text


def cited(memory: Memory, ref: str) -> str:
    (passage,) = resolve_citations(ref if ref.startswith("[") else f"See [House · {ref}].", memory.recall).passages
    return passage.text


def library(memory: Memory, ref: str) -> str:
    return recall_memory(ref, memory.workspace.root)


FACES: dict[str, Callable[[Memory, str], str]] = {
    "tool": tool,
    "slash": slash,
    "screen": screen,
    "citation": cited,
    "library": library,
}


@pytest.mark.parametrize(
    ("face", "kind"),
    [(face, kind) for face in FACES for kind in KINDS if (face, kind) != ("citation", "spaced label")],
)
def test_a_reference_names_the_same_passage_at_every_face(memory: Memory, known: Known, face: str, kind: str) -> None:
    ref, text = known.texts[kind]
    assert FACES[face](memory, ref) == text


def test_the_command_line_names_the_same_passages(run: Run, known: Known) -> None:
    for kind, (ref, text) in known.texts.items():
        (hit,) = run("recall", ref, "--json").json["hits"]
        assert hit["text"] == text, kind


@pytest.mark.parametrize("kind", MISSING)
def test_a_reference_to_nothing_is_the_same_error_at_every_face(memory: Memory, kind: str) -> None:
    ref = MISSING[kind]
    said: set[tuple[str, str, str]] = set()
    for face in (tool, slash, library):
        with pytest.raises(NotFound) as raised:
            face(memory, ref)
        said.add((raised.value.title, raised.value.message, raised.value.hint))
    assert len(said) == 1
    ((_, message, hint),) = said
    assert hint
    assert find_rows(memory, ref).warning == message
    assert resolve_citations(f"See [House · {ref}].", memory.recall).passages == ()


def test_the_command_line_has_the_same_errors(run: Run, known: Known, root: Path) -> None:
    for ref in MISSING.values():
        error = run("recall", ref, "--json").json["error"]
        memory = Memory.open(Workspace(root))
        with pytest.raises(PalimpsestError) as raised:
            tool(memory, ref)
        memory.close()
        assert error == raised.value.as_json()


def test_words_are_a_question_where_one_can_ask_and_an_error_where_one_cannot(memory: Memory) -> None:
    assert by_reference(memory, "ferry to Hydra") == ()
    assert SPOKEN in recall_markdown(memory, "ferry to Hydra")
    for face in (tool, library):
        with pytest.raises(NotFound, match="a line range of a note file,"):
            face(memory, "ferry to Hydra")


def test_a_conversation_is_its_newest_messages_in_their_order(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    memory.conversations.set_leaf(conversation := memory.cold.conversation("ferries").seq, None)
    leaf = None
    for number in range(5):
        draft = EntryDraft(
            conversation=conversation,
            parent=leaf,
            kind=EntryKind.MESSAGE,
            role=Role.USER,
            text=as_given(f"message {number}"),
        )
        leaf = memory.cold.append(draft).seq
    memory.conversations.set_leaf(conversation, leaf)
    monkeypatch.setattr("memory.references.MESSAGES_OF_CHAT", 3)
    assert [passage.text for passage in by_reference(memory, "chat:ferries")] == [f"message {n}" for n in (2, 3, 4)]
    for unknown in ("chat:nowhere", "chat:Ferries", "chat:"):
        with pytest.raises(NotFound, match="There is no conversation"):
            by_reference(memory, unknown)
    assert by_reference(memory, "chat: about ferries") == ()
