"""A workspace that is not trusted: it can be read, and nothing below it changes."""

import json
import shutil
from pathlib import Path

import pytest

from foundation.paths import Workspace
from foundation.privacy import clear
from memory import archive_conversation, recall_memory
from memory.errors import ReadOnly
from memory.memory import Memory
from memory.records import EntryDraft, EntryKind
from models.messages import Role
from tests.agent.conftest import Run
from tests.agent.trust.cloned import conversation_of, tree

pytestmark = pytest.mark.timeout(60)


READING = [
    ("search", "lighthouse"),
    ("recall", "lighthouse"),
    ("context",),
    ("context", "what of the lighthouse?"),
    ("stats",),
    ("check",),
    ("memory", "list"),
    ("conversations", "list"),
    ("knowledge", "list"),
    ("archive", "--list"),
    ("config", "show"),
    ("doctor",),
]
WRITING = [
    ("-p", "hello"),
    ("remember", "that"),
    ("archive", "--repack"),
    ("check", "--repair"),
    ("import", "notes.jsonl"),
    ("knowledge", "add", "notes.md"),
    ("config", "set", "tools.most_calls", "9"),
    ("conversations", "delete", "CONVERSATION", "--yes"),
    ("conversations", "rename", "CONVERSATION", "another"),
    ("init",),
]


@pytest.mark.parametrize("words", READING)
def test_an_untrusted_workspace_can_be_read_and_nothing_below_it_changes(
    cloned: Path, bare: Run, words: tuple[str, ...]
) -> None:
    before = tree(cloned)
    done = bare("--workspace", str(cloned), *words)
    assert tree(cloned) == before
    assert done.status in {0, 1}, done.err
    if words[0] in {"search", "recall", "stats", "memory", "conversations", "check"}:
        assert done.status == 0, done.err
        assert done.err.count("palimpsest trust") == 1, done.err


def test_a_search_of_an_untrusted_workspace_finds(cloned: Path, bare: Run) -> None:
    done = bare("--workspace", str(cloned), "search", "lighthouse", "--json")
    assert len(done.json["hits"]) >= 2


@pytest.mark.parametrize("words", WRITING)
def test_what_writes_to_an_untrusted_workspace_is_refused(cloned: Path, bare: Run, words: tuple[str, ...]) -> None:
    Path("notes.jsonl").write_text('{"text": "a"}\n')
    Path("notes.md").write_text("# Notes\n\nSeven ships.\n")
    words = tuple(conversation_of(cloned) if word == "CONVERSATION" else word for word in words)
    before = tree(cloned)
    done = bare("--workspace", str(cloned), *words)
    assert tree(cloned) == before
    assert done.status == 1, done.err + done.out
    assert f"palimpsest trust {cloned}" in done.err


@pytest.mark.parametrize("command", ["/branch {}", "/rewind {} conversation", "/rewind {} both"])
def test_slash_commands_that_move_the_branch_are_refused(cloned: Path, bare: Run, command: str) -> None:
    space = ("--workspace", str(cloned))
    shown = bare(*space, "conversations", "show", conversation_of(cloned), "--json").json
    line, before = command.format(shown["entries"][0]["id"]), tree(cloned)
    said = bare(*space, "-c", "-p", line)
    assert (said.status, said.out) == (1, ""), said.out
    data = bare(*space, "-c", "-p", line, "--output-format", "json")
    assert data.status == 1
    assert f"palimpsest trust {cloned}" in said.err.splitlines()[-1]
    assert data.json["error"]["code"] == "read_only" and str(cloned) in data.json["error"]["hint"]
    assert tree(cloned) == before


def test_a_journal_that_holds_words_is_read_from_a_copy(cloned: Path, bare: Run, root: Path) -> None:
    """The newest words stand in cold.db-wal alone, as a kill leaves them."""
    with_journal = cloned.with_name("with-journal")
    memory = Memory.open(Workspace(root))
    conversation = memory.cold.latest()
    assert conversation is not None
    memory.cold.append(
        EntryDraft(
            conversation=conversation.seq,
            parent=conversation.leaf,
            kind=EntryKind.MESSAGE,
            role=Role.USER,
            text=clear("a pelican at noon"),
        )
    )
    shutil.copytree(root, with_journal, symlinks=True)
    memory.close()
    assert (with_journal / ".palimpsest" / "cold.db-wal").stat().st_size > 0
    before = tree(with_journal)
    done = bare("--workspace", str(with_journal), "search", "pelican", "--json")
    assert tree(with_journal) == before
    assert len(done.json["hits"]) == 1
    assert "a pelican at noon" in json.dumps(done.json["hits"])


def test_nothing_is_left_in_the_temporary_folder(
    cloned: Path, bare: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    bare("--workspace", str(cloned), "search", "lighthouse")
    bare("--workspace", str(cloned), "-p", "hello")
    assert list(scratch.iterdir()) == []


def test_what_the_program_makes_is_trusted(bare: Run, tmp_path: Path) -> None:
    place = tmp_path / "made"
    kept = archive_conversation("seven white ships", "ships", place)
    assert recall_memory("ships", place) == "seven white ships"
    assert kept["pages"]
    assert bare("--workspace", str(place), "remember", "that").status == 0


def test_the_library_reads_an_untrusted_workspace_and_refuses_to_write_to_it(tmp_path: Path) -> None:
    place = tmp_path / "made"
    archive_conversation("seven white ships", "ships", place)
    there = tmp_path / "copied"
    shutil.copytree(place, there, symlinks=True)
    before = tree(there)
    assert recall_memory("ships", there) == "seven white ships"
    with pytest.raises(ReadOnly, match="not made here"):
        archive_conversation("another", "another", there)
    assert tree(there) == before
