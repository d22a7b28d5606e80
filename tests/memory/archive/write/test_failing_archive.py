"""Failing at any step, archiving loses no word and keeps none twice. (Killed: test_kills.py.)"""

from collections import Counter
from pathlib import Path

import pytest

from foundation.clock import SystemClock
from foundation.paths import Workspace
from foundation.privacy import as_given
from foundation.trust import Trust
from memory.archive.packs.pack import Pack
from memory.archive.rows import archives
from memory.archive.rows import pages as page_rows
from memory.archive.vault import Vault
from memory.archive.write import archiver, page_writer
from memory.cold import ColdStore
from memory.errors import Damaged
from memory.records import EntryDraft, EntryKind
from models.messages import Role
from tests.memory.cold.drafts import fake_analyse
from tests.memory.pages.zlib_pages import page_of_zlib

TEXTS = ["", "short", "Grüße, 世界 ␛ ↵ \ud800 🦊\r\n" * 900, "end"]


def opened(state: Path) -> tuple[ColdStore, Vault]:
    cold = ColdStore.open(state / "cold.db", analyse=fake_analyse, clock=SystemClock())
    return cold, Vault(state / "packs", state / "pages", cold, SystemClock())


def begin(state: Path) -> None:
    state.mkdir(parents=True)
    cold, _ = opened(state)
    conversation = cold.new_conversation()
    parent = None
    for text in TEXTS:
        draft = EntryDraft(
            conversation=conversation.seq, parent=parent, kind=EntryKind.MESSAGE, role=Role.USER, text=as_given(text)
        )
        parent = cold.append(draft).seq
    cold.close()


def look(state: Path) -> str:
    """Whether all texts are there, exact, and once; and where: "stored" or "archived"."""
    cold, vault = opened(state)
    (conversation,) = cold.conversations()
    entries = list(cold.path(conversation.leaf))[::-1]
    passages = [vault.entry_text(entry) for entry in entries]
    assert [passage.text for passage in passages] == TEXTS
    assert {passage.trust for passage in passages} == {Trust.EXACT}
    assert cold.check() == []
    assert {problem.what for problem in vault.check()} <= {"unknown"}
    gone = {entry.text is None for entry in entries}
    assert len(gone) == 1  # all or none
    pages = Counter(page for passage in passages for page in passage.pages)
    assert len(vault.archives()) == int(gone == {True})
    assert set(pages) == {row.id for row in vault.pages()}
    ops = Counter(change.op for change in cold.changes(0))
    assert ops == Counter(add=len(TEXTS), archive=len(TEXTS) if gone == {True} else 0) + Counter()
    cold.close()
    return "archived" if gone == {True} else "stored"


FAULTS = {
    "the pack cannot be written": (page_writer, "write_pack"),
    "the pack cannot be opened again": (page_writer, "Pack"),
    "a page cannot be read back": (page_writer, "read_picture"),
    "the archive's row fails": (archives, "insert_archive"),
    "the packs' rows fail": (page_rows, "insert_packs"),
    "the pages' rows fail": (page_rows, "insert_pages"),
    "the look at the entries fails": (page_rows, "is_stored"),
    "the spans' rows fail": (page_rows, "insert_spans"),
    "letting go fails": (archiver, "release_text"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_failure_at_any_step_lets_nothing_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str) -> None:
    def fail(*_, **__) -> None:
        raise OSError(28, "No space left on device")

    state = tmp_path / "state"
    begin(state)
    cold, vault = opened(state)
    (conversation,) = cold.conversations()
    entries = list(cold.path(conversation.leaf))[::-1]
    with monkeypatch.context() as patch:
        patch.setattr(*FAULTS[fault], fail)
        with pytest.raises(OSError, match="No space left"):
            vault.archive_entries(entries, label="overflow")
    assert look(state) == "stored"
    vault.archive_entries(entries, label="overflow")
    cold.close()
    assert look(state) == "archived"


def test_a_disk_that_gives_back_another_page_is_found_out(
    vault: Vault, cold: ColdStore, workspace: Workspace, monkeypatch: pytest.MonkeyPatch, say
) -> None:
    entries = [say("one"), say("x" * 9000)]
    real = Pack.png
    monkeypatch.setattr(Pack, "png", lambda self, position: real(self, 0))
    with pytest.raises(Damaged, match="Page 2"):
        vault.archive_entries(entries, label="overflow")
    assert [cold.entry(entry.seq).text for entry in entries] == ["one", "x" * 9000]
    assert vault.check() == []
    assert [name for name in vault.storage.names() if name.endswith(".pages")] == []
    assert vault.pages() == []


def test_a_pack_that_gives_back_another_picture_of_the_same_text_is_found_out(
    vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Pack.png
    monkeypatch.setattr(Pack, "png", lambda self, position: page_of_zlib(real(self, position)))
    with pytest.raises(Damaged, match="but reads back differently"):
        vault.archive_text(as_given("ferry " * 3000), label="ferry")
    assert vault.pages() == []
