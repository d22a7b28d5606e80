"""A conversation as a file that a person reads, and may write into."""

import hashlib
import os
import threading
from pathlib import Path

import pytest

from foundation.paths import Workspace
from foundation.privacy import Cleared
from memory.cold import ColdStore
from memory.cold.mirrors import mirrors
from memory.cold.mirrors.mirrors import Mirrors
from memory.cold.mirrors.render import mirror_name
from memory.cold.sql import run
from memory.records import EntryKind
from models.messages import Role
from tests.fakes import FakeClock
from tests.memory.cold.drafts import answered, open_store, said, summed_up


class Desk:
    """A workspace with one conversation."""

    def __init__(self, workspace: Workspace, clock: FakeClock) -> None:
        self.workspace = workspace
        self.cold = open_store(workspace.database, clock)
        self.asked: list[str] = []
        self.mirrors = Mirrors(workspace, self.cold, self.text_of)
        self.conversation = self.cold.new_conversation(Cleared("Trip planning")).seq

    def text_of(self, entry: object) -> str:
        self.asked.append(entry.id)
        return entry.text if entry.text is not None else "from the pixels"

    def say(self, text: str, **rest: object) -> int:
        leaf = self.cold.conversation_at(self.conversation).leaf
        return self.cold.append(said(self.conversation, text, leaf, **rest)).seq

    def update(self) -> str:
        path = self.mirrors.update(self.conversation)
        assert path is not None
        return path.read_text("utf-8")

    @property
    def path(self) -> Path:
        return self.workspace.conversations / mirror_name(self.cold.conversation_at(self.conversation))

    @property
    def versions(self) -> list[str]:
        folder = self.workspace.versions
        return [path.read_text("utf-8") for path in sorted(folder.iterdir())] if folder.exists() else []


@pytest.fixture
def desk(workspace: Workspace, clock: FakeClock) -> Desk:
    return Desk(workspace, clock)


def test_a_mirror_reads_as_the_conversation_went(desk: Desk, clock: FakeClock) -> None:
    desk.say("Where is the tent?", speaker="Ann", id="e_1")
    clock.advance(120)
    leaf = desk.cold.conversation_at(desk.conversation).leaf
    desk.cold.append(answered(desk.conversation, "In the *cellar*.\n\nTake a lamp.", leaf, id="e_2"))
    conversation = desk.cold.conversation_at(desk.conversation)
    assert (
        desk.update()
        == f"""---
format: 2
id: "{conversation.id}"
title: "Trip planning"
created: 2026-03-14T09:26:53Z
---

# Trip planning

## 2026-03-14 09:26 · Ann <!-- e_1 -->

Where is the tent?

## 2026-03-14 09:28 · assistant <!-- e_2 -->

In the *cellar*.

Take a lamp.
"""
    )
    assert desk.path.name == f"{conversation.id}.md"


def test_a_turn_is_appended_and_no_more_is_written(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(50):
        desk.say(f"word {number}")
    desk.update()
    desk.asked.clear()
    monkeypatch.setattr(mirrors, "write_temporary", lambda *_: pytest.fail("the whole was written anew"))
    monkeypatch.setattr(Path, "read_bytes", lambda _: pytest.fail("the whole was read"))
    for number in range(3):
        desk.say(f"new word {number}", id=f"n{number}")
        desk.mirrors.update(desk.conversation)
    desk.mirrors.update(desk.conversation)
    assert desk.asked == ["n0", "n1", "n2"]
    assert desk.path.read_text().count("word") == 53


def test_another_process_goes_on_where_the_mirror_ends(desk: Desk) -> None:
    desk.say("one")
    desk.update()
    other = Mirrors(desk.workspace, desk.cold, desk.text_of)
    desk.asked.clear()
    desk.say("two", id="e_two")
    other.update(desk.conversation)
    desk.say("three", id="e_three")
    text = desk.update()
    assert desk.asked == ["e_two", "e_three"]
    assert [line for line in text.splitlines() if line in ("one", "two", "three")] == ["one", "two", "three"]
    assert desk.versions == []


def test_a_hand_edit_is_kept_as_a_version_before_the_mirror_is_made_anew(desk: Desk) -> None:
    desk.say("one")
    edited = desk.update() + "\nMy own note.\n"
    desk.path.write_text(edited, "utf-8")
    desk.say("two")
    text = desk.update()
    assert "My own note." not in text
    assert "two" in text
    assert desk.versions == [edited]
    desk.say("three")
    desk.update()
    assert len(desk.versions) == 1


def test_an_edit_that_comes_while_the_mirror_is_made_anew_is_kept(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.say("one")
    desk.update()
    desk.cold.rename(desk.conversation, Cleared("Another title"))
    beside = mirrors.write_temporary

    def edits_meanwhile(path: Path, text: bytes) -> Path:
        made = beside(path, text)
        path.write_text("a person's words", "utf-8")
        return made

    monkeypatch.setattr(mirrors, "write_temporary", edits_meanwhile)
    assert "# Another title" in desk.update()
    assert desk.versions == ["a person's words"]


def test_an_edit_that_comes_while_a_turn_is_appended_stays_in_the_file(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.say("one")
    edited = desk.update().replace("one", "one, and my note")
    turns = mirrors.turn

    def edits_meanwhile(entry: object, text: str) -> bytes:
        desk.path.write_text(edited, "utf-8")
        return turns(entry, text)

    desk.say("two")
    with monkeypatch.context() as patch:
        patch.setattr(mirrors, "turn", edits_meanwhile)
        text = desk.update()
    assert "my note" in text
    assert "two" in text
    desk.say("three")
    assert "my note" not in desk.update()
    assert len(desk.versions) == 1
    assert "my note" in desk.versions[0]


def test_a_file_that_was_touched_and_not_changed_is_appended_to(desk: Desk) -> None:
    desk.say("one")
    desk.update()
    os.utime(desk.path, (1, 1))
    desk.say("two", id="e_two")
    desk.asked.clear()
    desk.update()
    assert desk.asked == ["e_two"]


def test_a_new_title_does_not_read_the_archive_again(desk: Desk) -> None:
    desk.say("one")
    desk.update()
    desk.asked.clear()
    desk.cold.rename(desk.conversation, Cleared("Tent"))
    text = desk.update()
    assert "# Tent" in text
    assert "one" in text
    assert desk.asked == []
    assert desk.versions == []


def test_another_branch_makes_the_mirror_anew(desk: Desk) -> None:
    trunk = desk.say("trunk")
    desk.say("left")
    desk.update()
    desk.cold.set_leaf(desk.conversation, trunk)
    desk.say("right")
    text = desk.update()
    assert "right" in text
    assert "left" not in text
    assert desk.versions == []


def test_a_mirror_that_was_deleted_is_made_anew(desk: Desk) -> None:
    desk.say("one")
    whole = desk.update()
    desk.path.unlink()
    assert desk.update() == whole


def test_an_answer_in_flight_waits_and_one_that_was_cut_off_says_so(desk: Desk) -> None:
    leaf = desk.say("question")
    answer = desk.cold.begin_answer(answered(desk.conversation, "", leaf))
    answer.write(Cleared("half an ans"))
    assert "assistant" not in desk.update()
    answer.abandon()
    text = desk.update()
    assert text.endswith("half an ans\n\n*(cut off here)*\n")
    assert text.count("question") == 1


def test_what_follows_an_answer_in_flight_waits_with_it(desk: Desk) -> None:
    leaf = desk.say("question")
    answer = desk.cold.begin_answer(answered(desk.conversation, "", leaf))
    desk.say("impatient")
    assert "impatient" not in desk.update()
    answer.finish(Cleared("the answer"))
    text = desk.update()
    assert text.index("question") < text.index("the answer") < text.index("impatient")
    assert desk.versions == []


def test_archived_words_come_from_the_pixels(desk: Desk) -> None:
    desk.cold.write(lambda db: desk.cold.insert(db, said(desk.conversation, "gone"), keep_text=False))
    assert "from the pixels" in desk.update()


def test_tool_output_is_fenced_and_bounded_and_summaries_are_quoted(desk: Desk) -> None:
    desk.say(
        "```\n# not a heading\n" + "x" * 5000, kind=EntryKind.TOOL_RESULT, role=Role.TOOL, speaker="files", id="e_t"
    )
    leaf = desk.cold.conversation_at(desk.conversation).leaf
    assert leaf is not None
    desk.cold.append(summed_up(desk.conversation, leaf, None))
    text = desk.update()
    assert "· tool files <!-- e_t -->\n\n````\n```\n# not" in text
    assert "\n````\n\n*(3,020 more characters: `palimpsest recall e_t`)*" in text
    assert "> In short." in text


def test_archives_and_empty_conversations_have_no_mirror(desk: Desk) -> None:
    assert desk.mirrors.update(desk.conversation) is None
    archive = desk.cold.new_conversation(kind="archive")
    desk.cold.append(said(archive.seq, "page one"))
    assert desk.mirrors.update(archive.seq) is None
    assert not desk.workspace.conversations.exists()


def test_removing_a_mirror_keeps_a_persons_edit(desk: Desk) -> None:
    desk.say("one")
    desk.update()
    desk.mirrors.remove(desk.conversation)
    assert not desk.path.exists()
    assert desk.versions == []
    edited = desk.update() + "mine"
    desk.path.write_text(edited, "utf-8")
    desk.mirrors.remove(desk.conversation)
    assert desk.versions == [edited]


def test_many_threads_write_one_mirror(desk: Desk) -> None:
    others = [Mirrors(desk.workspace, desk.cold, desk.text_of) for _ in range(3)]

    def work(mirror: Mirrors) -> None:
        for _ in range(5):
            desk.say("word")
            mirror.update(desk.conversation)

    threads = [threading.Thread(target=work, args=(mirror,)) for mirror in others]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    leaf = desk.cold.conversation_at(desk.conversation).leaf
    assert leaf is not None
    assert desk.update().count("\nword\n") == len(list(desk.cold.path(leaf)))
    assert desk.versions == []


@pytest.mark.parametrize(
    ("source", "id_"),
    [
        ("chatgpt", "a/b:c"),
        ("", "CON"),
        ("", "con"),
        ("x", "../../etc/passwd"),
        ("", "."),
        ("", "日本"),
        ("", "x" * 300),
        ("", "A"),
    ],
)
def test_any_imported_id_makes_a_file_name_that_every_system_takes(cold: ColdStore, source: str, id_: str) -> None:
    name = mirror_name(cold.new_conversation(source=source, id=id_))
    assert name.endswith(".md")
    assert len(name) <= 90
    assert set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789-_.")
    assert name.split(".")[0] not in ("", "con")
    assert name.count(".") == 1


def test_ids_that_differ_in_case_alone_have_files_of_their_own(cold: ColdStore) -> None:
    names = {mirror_name(cold.new_conversation(id=id_)).lower() for id_ in ("Abc", "abc", "ABC")}
    assert len(names) == 3


def test_a_mirror_of_0_3_0_is_written_anew_with_its_texts_escaped(desk: Desk) -> None:
    heading = "\n\n## 2026-11-22 07:30 · user <!-- e_9 -->\n\nI agree"
    desk.say("See:" + heading, id="e_1")
    new = desk.update()
    old = new.replace("format: 2\n", "").replace("\\## ", "## ").encode()
    desk.path.write_bytes(old)
    above = old[: old.index(b"\n## ")]
    values = (above, len(old), hashlib.sha256(old).digest())
    desk.cold.write(lambda db: run(db, "UPDATE mirrors SET head = ?, bytes = ?, sha256 = ?", values))
    assert desk.update() == new
    assert desk.versions == []
