"""Short words behind every entrance: lines of a few letters, digits, Chinese, ids, labels, names. None is left.

Each is put in by one entrance and forgotten by one way to name it; then the test looks for it by itself. What is left
must be named by a job that is not finished.
"""

import json
import re
import unicodedata
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import pytest
from msgspec import Struct

from agent.importers.jsonl import read_jsonl
from agent.importers.store import store_all
from agent.services.archive import archive_text
from agent.services.drafts import Drafts
from agent.services.forget import NotForgottenYet, forget, plan
from foundation.clock import SystemClock
from foundation.paths import Workspace
from foundation.privacy import clear, cleared_fields
from memory.memory import Memory
from memory.records import Entry, EntryDraft, EntryKind
from models.messages import Role
from tests.examples import SOAK
from tests.memory.forget.bytes_of import contents
from tui.widgets.prompt.history import PromptHistory

pytestmark = pytest.mark.timeout(600)

BATCHES, COUNT = (10, 50) if SOAK else (1, 15)
_HAN = "鲸鹭獭麝蕨藓棱榫鞣铆锑钼氙苯醚岬峒汐澈霁"
_TWINS = (("鲸", "鯨"), ("鹭", "鷺"), ("藓", "蘚"), ("铆", "鉚"), ("锑", "銻"), ("钼", "鉬"))


class Words:
    """Makes canaries, each of them once."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)
        self._made: set[str] = set()

    def make(self, kind: str) -> str:
        while True:
            word = self._word(kind)
            if not any(word in other or other in word for other in self._made):
                self._made.add(word)
                return word

    def _word(self, kind: str) -> str:
        choices = self._random.choices
        match kind:
            case "line":
                return "zq" + "".join(choices("bcdfghklmnpst", k=self._random.randint(3, 6)))
            case "digits":
                return "".join(choices("3456789", k=self._random.randint(6, 9)))
            case "code":
                return f"{''.join(choices('hkqxz', k=2))}{''.join(choices('3456789', k=4))}"
            case "two words":
                return f"zq{''.join(choices('bdfgk', k=3))} {''.join(choices('lmnpt', k=3))}"
            case _:
                return "".join(choices(_HAN, k=self._random.randint(3, 6)))


KINDS = ("line", "digits", "code", "two words", "Chinese")


def written_otherwise(word: str) -> str:
    """The word as a person may type it later: search folds both to the same."""
    for simple, traditional in _TWINS:
        word = word.replace(simple, traditional)
    wide = word.translate({code: code + 0xFEE0 for code in range(0x30, 0x3A)})
    return unicodedata.normalize("NFD", wide.upper())


class Place(Struct, frozen=True):
    """How to name what holds the canary: a name, words or a conversation."""

    named: str = ""
    words: str = ""
    conversation: str = ""


class Entrances:
    """The ways in; each gives how what came in is named."""

    def __init__(self, memory: Memory, folder: Path) -> None:
        self.memory, self.folder, self.count = memory, folder, 0
        self.folder.mkdir()

    def say(self, conversation: int, text: str, role: Role = Role.USER, **meta: object) -> Entry:
        parent = self.memory.conversations.at(conversation).leaf
        kind = EntryKind.TOOL_RESULT if role is Role.TOOL else EntryKind.MESSAGE
        draft = EntryDraft(
            kind=kind, role=role, conversation=conversation, parent=parent, text=clear(text), meta=cleared_fields(meta)
        )
        return self.memory.conversations.append(draft)

    def talk(self, word: str) -> Entry:
        conversation = self.memory.conversations.new(clear(f"A talk of number {self.count} on the harbour")).seq
        said = self.say(conversation, word)
        self.say(conversation, f"I noted {word}, and nothing else of it.", Role.ASSISTANT, reasoning=f"It is {word}.")
        self.memory.mirrors.update(conversation)
        return said

    def message(self, word: str) -> Place:
        return Place(named=self.talk(word).id)

    def message_by_its_words(self, word: str) -> Place:
        self.talk(word)
        return Place(words=written_otherwise(word))

    def typed_and_drafted(self, word: str) -> Place:
        said = self.talk(word)
        history = PromptHistory(self.memory.workspace.prompt_history)
        history.remember(word)
        history.write()
        Drafts(self.memory.workspace.drafts).save(said.conversation, f"and {word} again")
        return Place(conversation=said.conversation)

    def tool_result(self, word: str) -> Place:
        said = self.talk("Read the file of the harbour, please.")
        calls = [{"id": "1", "name": "read_file", "arguments": json.dumps({"path": word})}]
        self.say(said.conversation_seq, "", Role.ASSISTANT, tool_calls=calls, reason="tool_calls")
        result = self.say(said.conversation_seq, word, Role.TOOL, call_id="1", shown=word)
        self.say(said.conversation_seq, f"It says {word}.", Role.ASSISTANT)
        return Place(named=result.id) if self.count % 2 else Place(words=word)

    def archived_text(self, word: str) -> Place:
        label = f"harbour papers {self.count}"
        archive_text(self.memory, f"a\n{word}\nb\n", label)
        return Place(named=label)

    def label_of_an_archive(self, word: str) -> Place:
        archive_text(self.memory, f"Papers of the harbour, number {self.count}.\n", word)
        return Place(named=word)

    def tag_of_an_archive(self, word: str) -> Place:
        archive_text(self.memory, f"Papers of the harbour, number {self.count}.\n", f"papers {self.count}")
        self.memory.vault.tag(self.memory.vault.archives()[0].seq, word)
        return Place(named=f"papers {self.count}")

    def title_and_label(self, word: str) -> Place:
        conversation = self.memory.conversations.new(clear(word), labels=[clear(word)])
        self.say(conversation.seq, "A message about boats.")
        self.memory.mirrors.update(conversation.seq)
        return Place(conversation=conversation.id)

    def imported(self, **fields: str) -> None:
        line = {
            "id": "1",
            "conversation": f"far {self.count}",
            "role": "user",
            "text": f"Boats of import number {self.count}.",
        } | fields
        records = read_jsonl([json.dumps(line).encode() + b"\n"], f"far {self.count}")
        store_all(self.memory.conversations, records, source="elsewhere", fixed_source=False)

    def id_of_an_import(self, word: str) -> Place:
        self.imported(id=word)
        return Place(named=word)

    def id_of_an_imported_conversation(self, word: str) -> Place:
        self.imported(conversation=word)
        return Place(conversation=word)

    def speaker_of_an_import(self, word: str) -> Place:
        self.imported(speaker=word)
        return Place(conversation=f"far {self.count}")

    def name_of_a_file(self, word: str) -> Place:
        path = self.folder / f"{word}.txt"
        path.write_text(f"a\n{word}\nb\n", "utf-8")
        self.memory.knowledge.add([path])
        return Place(named=f"{word}.txt")

    def note(self, word: str) -> Place:
        self.memory.hot.remember(clear(word))
        self.memory.hot.remember(clear(f"Also {word}."), file="memory/boats.md")
        return Place(words=written_otherwise(word))

    def copy_of_a_mirror(self, word: str) -> Place:
        said, space = self.talk(word), self.memory.workspace
        (mirror,) = [path for path in space.conversations.iterdir() if said.conversation in path.name]
        for folder, name in (
            (space.versions, f"conversations-{mirror.stem}-20260101T000000Z-1.md"),
            (space.damaged, "a.md"),
        ):
            folder.mkdir(exist_ok=True)
            (folder / name).write_bytes(mirror.read_bytes())
        return Place(named=said.id)

    def every(self) -> tuple[Callable[[str], Place], ...]:
        return (
            self.message,
            self.message_by_its_words,
            self.typed_and_drafted,
            self.tool_result,
            self.archived_text,
            self.label_of_an_archive,
            self.tag_of_an_archive,
            self.title_and_label,
            self.id_of_an_import,
            self.id_of_an_imported_conversation,
            self.speaker_of_an_import,
            self.name_of_a_file,
            self.note,
            self.copy_of_a_mirror,
        )


def places_of_word(root: Path, word: str) -> list[str]:
    """The files that hold the word, but as a part of a number, a digest or another word."""
    forms = {form.encode() for form in (word, word.upper(), json.dumps(word)[1:-1])} | {word.encode("utf-16-le")}
    pattern = re.compile(rb"(?<![0-9A-Za-z])(?:" + b"|".join(map(re.escape, forms)) + rb")(?![0-9A-Za-z])")
    found = [
        path for path in sorted(root.rglob("*")) if path.is_file() and any(map(pattern.search, bodies(path, root)))
    ]
    return [str(path.relative_to(root)) for path in found]


def bodies(path: Path, root: Path) -> Iterator[bytes]:
    yield str(path.relative_to(root)).encode()
    yield from contents(path)


@pytest.mark.parametrize("batch", range(BATCHES))
def test_no_short_word_is_left(tmp_path: Path, batch: int) -> None:
    root, words = tmp_path / "ws", Words(batch)
    root.mkdir()
    left: list[tuple[str, str, list[str]]] = []
    named: list[tuple[str, str, str]] = []
    memory = Memory.open(Workspace(root), SystemClock())
    try:
        entrances = Entrances(memory, tmp_path / "added")
        for number in range(COUNT):
            entrances.count = number
            enter = entrances.every()[number % len(entrances.every())]
            word = words.make(KINDS[(number + batch) % len(KINDS)])
            place = enter(word)
            assert places_of_word(root, word), (enter.__name__, word)
            try:
                forget(memory, plan(memory, named=place.named, words=place.words, conversation=place.conversation))
            except NotForgottenYet as error:  # it is named, and the command exits with 75
                named.append((enter.__name__, word, error.message))
                continue
            if files := places_of_word(root, word):
                left.append((enter.__name__, word, files))
        assert left == []
        assert named == [], "none of these places is out of reach"
        assert memory.cold.check() == []
        assert memory.vault.check() == []
    finally:
        memory.close()
