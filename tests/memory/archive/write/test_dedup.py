"""Passages that stand on a page already are not drawn again, and every text comes back to the letter all the same."""

import random
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from foundation.clock import SystemClock
from foundation.paths import Workspace
from foundation.privacy import as_given
from foundation.trust import Trust
from memory.archive.rows import pages
from memory.archive.vault import Vault
from memory.cold import ColdStore
from memory.records import Entry, EntryDraft, EntryKind
from models.messages import Role
from tests.examples import examples
from tests.memory.cold.drafts import fake_analyse

pytestmark = pytest.mark.timeout(60)  # by the wall clock: a busy machine takes ten times as long

Say = Callable[..., Entry]
CORPUS = Path(__file__).parent / "corpus"


def code(*names: str) -> str:
    """Modules of some program, as text that is like itself."""
    return "".join((CORPUS / f"{name}.txt").read_text("utf-8") for name in names)


def drawn_chars(vault: Vault) -> int:
    return sum(row.chars for row in vault.pages())


def assert_exact(vault: Vault, cold: ColdStore, entry: Entry, text: str) -> None:
    passage = vault.entry_text(cold.entry(entry.seq))
    assert passage.text == text
    assert passage.trust is Trust.EXACT


# ── entries ──


def test_a_file_that_a_tool_read_twice_is_drawn_once(vault: Vault, cold: ColdStore, say: Say) -> None:
    text = code("page", "cells")
    first = say(text, role=Role.TOOL)
    vault.archive_entries([first], label="first")
    before = drawn_chars(vault)
    edited = text.replace("def draw(", "def draw_it(").replace("ENGINE", "READER", 1)
    second = say(edited, role=Role.TOOL)
    archived = vault.archive_entries([second], label="second")
    assert archived.shared_chars > 0.8 * len(edited)
    assert drawn_chars(vault) - before < 0.3 * len(edited)
    assert_exact(vault, cold, first, text)
    assert_exact(vault, cold, second, edited)
    assert cold.check() == []
    assert vault.check() == []


def test_a_line_on_the_page_says_where_the_rest_stands(vault: Vault, say: Say) -> None:
    text = code("page")
    first = vault.archive_entries([say(text)], label="first")
    second = vault.archive_entries([say(text + "# And so on.\n")], label="second")
    (page,) = second.pages
    head, line, *_ = vault.read_page(page.id).text.splitlines()
    assert head.startswith("── Ann")
    assert line.startswith("⤷ ")
    assert line.endswith(f"characters) as on page {first.pages[0].id}, from its line 2")


def test_entries_archived_together_share_too(vault: Vault, cold: ColdStore, say: Say) -> None:
    text = code("cells")
    entries = [say(f"Read {n}\n{text}", role=Role.TOOL) for n in range(4)]
    archived = vault.archive_entries(entries, label="overflow")
    assert drawn_chars(vault) < 1.5 * len(text)
    for n, entry in enumerate(entries):
        assert_exact(vault, cold, entry, f"Read {n}\n{text}")
    words = "".join(vault.read_page(page.id).text for page in archived.pages)
    assert f"as in {entries[0].id}, from its line" in words


def test_short_repeats_are_drawn_again(vault: Vault, say: Say) -> None:
    short = "The ferry leaves at nine.\n" * 10
    first, second = say(short), say(short)
    assert vault.archive_entries([first, second], label="overflow").shared_chars == 0


def test_deleting_one_conversation_breaks_none_that_stands_on_its_pages(
    vault: Vault, cold: ColdStore, workspace: Workspace, say: Say
) -> None:
    text, secret = code("page", "cells"), "The xylophone is under the stairs.\n"
    gone = say(secret + text)
    vault.archive_entries([gone], label="gone")
    other = cold.new_conversation()
    kept = cold.append(
        EntryDraft(conversation=other.seq, parent=None, kind=EntryKind.MESSAGE, role=Role.USER, text=as_given(text))
    )
    assert vault.archive_entries([kept], label="kept").shared_chars > 0.8 * len(text)
    vault.release(cold.delete_conversation(gone.conversation_seq))
    assert_exact(vault, cold, kept, text)
    assert cold.check() == []
    assert vault.check() == []
    read = "".join(vault.read_page(row.id).text for row in vault.pages())
    assert "xylophone" not in read
    assert "gone" not in [row.label for row in vault.archives()]
    vault.archive_entries([cold.entry(kept.seq)], label="again")  # its text was given back: it may leave once more
    assert_exact(vault, cold, kept, text)


def test_a_page_that_goes_leaves_the_packs_it_shared(vault: Vault, cold: ColdStore, say: Say) -> None:
    """At rest, pages of many conversations stand in one pack: what was deleted must not stay in it."""
    from datetime import timedelta

    gone = say("The xylophone is under the stairs. " * 20)
    vault.archive_entries([gone], label="gone")
    vault.archive_text(as_given(code("flow")), label="kept")
    vault.repacking.run(min_age=timedelta(0), least=1)
    (mixed,) = cold.read(pages.pack_rows)
    vault.release(cold.delete_conversation(gone.conversation_seq))
    (row,) = cold.read(pages.pack_rows)
    assert row.name != mixed.name
    assert mixed.name not in vault.storage.names()
    assert len(vault.pages()) == len(cold.read(lambda db: pages.pages_of_pack(db, row.name)))
    assert vault.read_page(vault.pages()[0].id).text in code("flow")
    assert vault.check() == []


def test_a_kill_between_deleting_and_letting_go_is_made_good(vault: Vault, cold: ColdStore, say: Say) -> None:
    gone = say("The xylophone is under the stairs. " * 20)
    vault.archive_entries([gone], label="gone")
    cold.delete_conversation(gone.conversation_seq)  # and here the process ended
    vault.release()
    assert vault.pages() == []
    assert [name for name in vault.storage.names() if name.endswith(".pages")] == []


# ── files ──


def test_a_file_archived_again_takes_no_page_of_its_own(vault: Vault, cold: ColdStore) -> None:
    text = code("page", "cells", "glyphs")
    first = vault.archive_text(as_given(text), label="first")
    packs = cold.read(pages.pack_rows)
    second = vault.archive_text(as_given(text), label="second")
    assert cold.read(pages.pack_rows) == packs
    assert [page.id for page in second.pages] == [page.id for page in first.pages]
    assert (second.shared_chars, second.text_tokens) == (len(text), first.text_tokens)
    assert [page.number for page in second.pages] == list(range(1, len(first.pages) + 1))
    assert vault.check() == []


def test_an_edited_file_shares_the_pages_that_hold_its_words(vault: Vault) -> None:
    text = code("page", "cells", "glyphs", "header", "modes", "pixels", "cells", "flow")
    first = vault.archive_text(as_given(text), label="first")
    edited = text[:9000] + "\n# A line more.\n" + text[9000:]
    second = vault.archive_text(as_given(edited), label="second")
    shared = {page.id for page in first.pages} & {page.id for page in second.pages}
    assert len(shared) >= len(first.pages) - 1
    assert "".join(vault.read_page(page.id).text for page in second.pages) == edited
    assert "".join(vault.read_page(page.id).text for page in first.pages) == text


def test_another_mode_is_drawn_anew(vault: Vault) -> None:
    text = code("cells", "page", "glyphs", "pixels")
    vault.archive_text(as_given(text), label="first")
    again = vault.archive_text(as_given(text), label="second", mode="large")
    assert again.pages[0].mode == "large"
    dense = vault.archive_text(as_given(text), label="third", dense=True)
    assert {page.cell for page in dense.pages} == {"6x12"}


@pytest.mark.parametrize("before", ["dense", "tiny", "talk"])
def test_what_stands_drawn_otherwise_does_not_keep_a_file_from_being_stored_once(
    vault: Vault, cold: ColdStore, say: Say, before: str
) -> None:
    text = code("page", "cells", "glyphs")
    if before == "talk":
        vault.archive_entries([say(text)], label="talk")
    else:
        mode = "tiny" if before == "tiny" else None
        vault.archive_text(as_given(text), label="otherwise", mode=mode, dense=before == "dense")
    first = vault.archive_text(as_given(text), label="first")
    packs = cold.read(pages.pack_rows)
    second = vault.archive_text(as_given(text), label="second")
    assert second.shared_chars == len(text)
    assert [page.id for page in second.pages] == [page.id for page in first.pages]
    assert cold.read(pages.pack_rows) == packs
    assert vault.check() == []


@pytest.mark.parametrize("goes", ["first", "second"])
def test_files_that_share_pages_outlive_each_other(vault: Vault, cold: ColdStore, goes: str) -> None:
    text = code("page", "cells", "glyphs")
    archived = {name: vault.archive_text(as_given(text), label=name) for name in ("first", "second")}
    whose = {row.label: row.conversation or 0 for row in vault.archives()}
    vault.release(cold.delete_conversation(whose[goes]))
    (left,) = vault.archives()
    assert left.label != goes
    assert "".join(vault.read_page(page.id).text for page in vault.pages(left.seq)) == text
    assert vault.check() == []
    vault.release(cold.delete_conversation(whose[left.label]))
    assert vault.pages() == []
    assert archived["first"].pages


def test_an_archive_that_no_entry_stands_for_keeps_its_pages(vault: Vault, cold: ColdStore) -> None:
    text = code("page", "cells")
    bare = vault.archive_text(as_given(text), label="bare", keep_entry=False)
    vault.archive_text(as_given(text), label="second")
    (second, _) = vault.archives()
    vault.release(cold.delete_conversation(second.conversation or 0))
    assert "".join(vault.read_page(page.id).text for page in bare.pages) == text


# ── the law ──

BASE = code("page", "cells", "header")


@st.composite
def edited(draw: st.DrawFn) -> str:
    """A part of the same text, with a few edits."""
    a = draw(st.integers(0, len(BASE)))
    text = BASE[a : a + draw(st.integers(0, 12000))]
    for _ in range(draw(st.integers(0, 3))):
        at = draw(st.integers(0, len(text)))
        cut = draw(st.integers(0, 200))
        text = text[:at] + draw(st.text(max_size=40)) + text[at + cut :]
    return text


@settings(max_examples=examples(15), deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(st.lists(edited(), min_size=1, max_size=3), min_size=1, max_size=4), st.randoms())
def test_any_archives_of_edited_texts_come_back(
    tmp_path_factory: pytest.TempPathFactory, batches: list[list[str]], dice: random.Random
) -> None:
    root = Workspace(tmp_path_factory.mktemp("law"))
    cold = ColdStore.open(root.database, analyse=fake_analyse, clock=SystemClock(), synchronous="off")
    vault = Vault(root.packs, root.page_cache, cold, SystemClock())
    said: list[tuple[Entry, str]] = []
    for batch in batches:
        conversation = cold.new_conversation().seq
        drafts = [
            EntryDraft(
                conversation=conversation, parent=None, kind=EntryKind.MESSAGE, role=Role.TOOL, text=as_given(text)
            )
            for text in batch
        ]
        entries = [entry for entry in cold.append_many(drafts) if entry]
        vault.archive_entries(entries, label="batch", mode=dice.choice(["tiny", "base"]))
        said += zip(entries, batch, strict=True)
    fresh = Vault(root.packs, root.page_cache, cold, SystemClock())
    for entry, text in said:
        assert_exact(fresh, cold, entry, text)
    gone = dice.choice(said)[0].conversation_seq
    fresh.release(cold.delete_conversation(gone))
    last = Vault(root.packs, root.page_cache, cold, SystemClock())
    for entry, text in said:
        if entry.conversation_seq != gone:
            assert_exact(last, cold, entry, text)
    assert cold.check() == []
    cold.close()
