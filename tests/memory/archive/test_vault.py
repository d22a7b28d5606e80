"""The vault: text becomes pages, and pages become text again, to the letter."""

from datetime import timedelta
from pathlib import Path

import pytest

from foundation.paths import Workspace
from foundation.privacy import as_given
from foundation.trust import Trust
from memory.archive import read_png
from memory.archive.json import archived_as_json
from memory.archive.packs.pack import Pack, write_pack
from memory.archive.packs.parity import parity_name
from memory.archive.packs.storage import LocalStorage
from memory.archive.vault import Vault
from memory.archive.write.page_writer import picture_of
from memory.archive.write.sidecar import keep_text
from memory.cold import ColdStore
from memory.errors import Damaged, NotFound, OutOfDate
from memory.pages.render.layout import LayoutText
from memory.pages.render.modes import TINY
from memory.pages.render.page import page_sheets, render_page
from memory.records import Entry, EntryKind
from memory.settings import ArchiveSettings
from models.messages import Role
from tests.fakes import FakeClock

LONG = "".join(f"line {n}: Grüße, 世界 ␛ ↵ \ud800 🦊\r\n" for n in range(2000))


# ── a text ──


def test_an_archived_text_comes_back_from_its_pages(vault: Vault) -> None:
    archived = vault.archive_text(as_given(LONG), label="notes")
    pages = [vault.read_page(page.id) for page in archived.pages]
    assert "".join(page.text for page in pages) == LONG
    assert {(page.trust, page.engine, page.label) for page in pages} == {(Trust.EXACT, "cells", "notes")}
    assert [page.number for page in pages] == list(range(1, len(pages) + 1))


def test_each_page_is_an_entry_whose_text_is_in_pixels_alone(vault: Vault, cold: ColdStore) -> None:
    archived = vault.archive_text(as_given(LONG), label="notes")
    (conversation,) = cold.conversations(kind="archive")
    assert conversation.title == "notes"
    entries = list(cold.path(conversation.leaf))[::-1]
    assert [entry.meta["page"] for entry in entries] == [page.id for page in archived.pages]
    assert {(entry.kind, entry.text) for entry in entries} == {(EntryKind.PAGE, None)}
    passages = [vault.entry_text(entry) for entry in entries]
    assert "".join(passage.text for passage in passages) == LONG
    assert {passage.trust for passage in passages} == {Trust.EXACT}


def test_its_terms_stay_so_that_it_can_be_found(vault: Vault, cold: ColdStore) -> None:
    archived = vault.archive_text(as_given(LONG), label="notes")
    assert len(cold.terms(0)) == len(archived.pages)
    assert [change.op for change in cold.changes(0)] == ["add"] * len(archived.pages)


def test_the_stored_text_of_a_page_is_nowhere_in_the_database(
    vault: Vault, cold: ColdStore, workspace: Workspace
) -> None:
    vault.archive_text(as_given("the xylophone rests in the attic tonight " * 9), label="notes")
    cold.close()
    assert b"attic" not in workspace.database.read_bytes()


def test_tokens_are_counted_by_the_counter_that_it_was_given(
    workspace: Workspace, cold: ColdStore, clock: FakeClock
) -> None:
    vault = Vault(workspace.packs, workspace.page_cache, cold, clock, count=len, tokenizer="letters")
    archived = vault.archive_text(as_given("x" * 8192), label="notes")
    assert [(p.text_tokens, p.vision_tokens, p.mode) for p in archived.pages] == [
        (8064, 273, "base"),
        (128, 73, "tiny"),
    ]
    assert (archived.text_tokens, archived.vision_tokens, archived.ratio) == (8192, 346, 23.68)
    assert archived.tokenizer == "letters"
    assert archived.profile == "deepseek-ocr"


def test_an_archive_without_entries_has_pages_alone(vault: Vault, cold: ColdStore) -> None:
    archived = vault.archive_text(as_given("hello"), label="notes", keep_entry=False)
    assert cold.conversations(kind="archive") == []
    assert vault.read_page(archived.pages[0].id).text == "hello"


def test_progress_is_told_page_by_page(vault: Vault) -> None:
    told: list[int] = []
    archived = vault.archive_text(as_given(LONG), label="notes", on_page=told.append)
    pages = len(archived.pages)
    assert told == sorted(told)
    assert told[-1] == pages
    assert set(told[:pages]) == set(range(pages // 2 + 1))  # while they are drawn: each is half done
    assert set(told[pages:]) >= set(range(pages // 2 + 1, pages))  # while they are proven


def test_an_empty_text_has_one_page(vault: Vault) -> None:
    archived = vault.archive_text(as_given(""), label="nothing")
    (page,) = archived.pages
    assert (vault.read_page(page.id).text, vault.read_page(page.id).trust) == ("", Trust.EXACT)


def test_what_was_archived_is_listed(vault: Vault) -> None:
    first = vault.archive_text(as_given("one"), label="one")
    second = vault.archive_text(as_given(LONG), label="two")
    assert [(row.label, row.origin, row.pages) for row in vault.archives()] == [
        ("two", "file", len(second.pages)),
        ("one", "file", 1),
    ]
    assert vault.pages(first.seq) == list(first.pages)
    assert vault.pages() == [*first.pages, *second.pages]


def test_the_shape_for_programs(vault: Vault) -> None:
    archived = vault.archive_text(as_given("hello"), label="notes")
    shape = archived_as_json(archived, vault.png)
    assert next(iter(shape)) == "schema"
    assert list(shape) == [
        "schema",
        "label",
        "pages",
        "text_tokens",
        "vision_tokens",
        "ratio",
        "tokenizer",
        "profile",
    ]
    assert list(shape["pages"][0]) == [
        "id",
        "path",
        "mode",
        "width",
        "height",
        "chars",
        "text_tokens",
        "vision_tokens",
        "ratio",
        "sha256",
        "verified",
    ]
    assert Path(shape["pages"][0]["path"]).is_file()


# ── a conversation ──


def test_archived_entries_come_back_to_the_letter_wherever_pages_break(vault: Vault, cold: ColdStore, say) -> None:
    texts = ["", "short", LONG, "\n\n", "── Ann · user · 2026-03-14T09:26:53Z · e_0 ──\n", "x" * 8064, "end "]
    entries = [say(text) for text in texts]
    vault.archive_entries(entries, label="overflow")
    for entry, text in zip(entries, texts, strict=True):
        stored = cold.entry(entry.seq)
        assert stored.text is None
        passage = vault.entry_text(stored)
        assert (passage.text, passage.trust) == (text, Trust.EXACT)
        assert passage.pages
    assert cold.check() == []
    assert vault.check() == []


def test_the_page_says_who_spoke_and_when(vault: Vault, say) -> None:
    first, second = say("hello"), say("hi there", "", Role.ASSISTANT)
    archived = vault.archive_entries([first, second], label="overflow")
    assert vault.read_page(archived.pages[0].id).text == (
        f"── Ann · user · 2026-03-14T09:27:53Z · {first.id} ──\nhello\n"
        f"── assistant · 2026-03-14T09:28:53Z · {second.id} ──\nhi there"
    )


def test_what_else_is_to_be_written_is_written_with_it_or_not_at_all(vault: Vault, cold: ColdStore, say) -> None:
    entry = say("hello")

    def fail(db) -> None:
        db.execute("INSERT INTO labels (conversation, label) VALUES (?, 'archived')", (entry.conversation_seq,))
        raise RuntimeError("the summary could not be written")

    with pytest.raises(RuntimeError):
        vault.archive_entries([entry], label="overflow", also=fail)
    assert cold.entry(entry.seq).text == "hello"
    assert cold.conversation_at(entry.conversation_seq).labels == ()
    assert vault.pages() == []

    vault.archive_entries(
        [entry],
        label="overflow",
        also=lambda db: db.execute(
            "INSERT INTO labels (conversation, label) VALUES (?, 'archived')", (entry.conversation_seq,)
        ),
    )
    assert cold.conversation_at(entry.conversation_seq).labels == ("archived",)
    assert cold.entry(entry.seq).text is None


def test_others_are_told_which_texts_went(vault: Vault, cold: ColdStore, say) -> None:
    entries = [say("one"), say("two")]
    vault.archive_entries(entries, label="overflow")
    assert [(c.op, c.entry) for c in cold.changes(0)][2:] == [("archive", entry.seq) for entry in entries]
    assert len(cold.terms(0)) == 2


def test_nothing_is_archived_twice(vault: Vault, cold: ColdStore, say) -> None:
    entry = say("hello")
    vault.archive_entries([entry], label="overflow")
    with pytest.raises(OutOfDate):
        vault.archive_entries([entry], label="overflow")  # as it was before
    again = vault.archive_entries([cold.entry(entry.seq)], label="overflow")
    assert again.pages == ()
    assert len(vault.archives()) == 1


def test_an_entry_that_changed_meanwhile_is_not_let_go(vault: Vault, cold: ColdStore, say) -> None:
    from memory.cold.entries import replace_text

    kept, changed = say("kept"), say("before")

    def meanwhile(_: int) -> None:
        cold.write(lambda db: replace_text(db, changed.seq, as_given("after")))

    with pytest.raises(OutOfDate):
        vault.archive_entries([kept, changed], label="overflow", on_page=meanwhile)
    assert [cold.entry(entry.seq).text for entry in (kept, changed)] == ["kept", "after"]
    assert vault.archives() == []


def test_a_stored_text_needs_no_page(vault: Vault, say) -> None:
    assert vault.entry_text(say("hello")).pages == ()


# ── damage ──


def overwrite_page(vault: Vault, workspace: Workspace, entry: Entry, text: str) -> None:
    """Puts a pack of another, sound page where the entry's pack stands."""
    (row,) = vault.pages()
    (sheet,) = page_sheets([LayoutText(text)], TINY)
    write_pack(LocalStorage(workspace.packs), row.pack, [picture_of(render_page(sheet, row.id, row.number))])


def test_a_sound_page_that_is_not_the_one_of_the_index_is_approximate(
    vault: Vault, cold: ColdStore, workspace: Workspace, say
) -> None:
    entry = say("pay Ann 100")
    archived = vault.archive_entries([entry], label="overflow")
    text = vault.read_page(archived.pages[0].id).text
    overwrite_page(vault, workspace, entry, text.replace("100", "900"))
    fresh = Vault(workspace.packs, workspace.page_cache, cold, FakeClock())
    page = fresh.read_page(archived.pages[0].id)
    assert (page.trust, page.doubt) == (Trust.APPROXIMATE, (1, 2))
    passage = fresh.entry_text(cold.entry(entry.seq))
    assert (passage.text, passage.trust) == ("pay Ann 900", Trust.APPROXIMATE)
    assert [problem.what for problem in fresh.check()] == ["pack", "page"]


def test_a_lost_pack_is_told_with_what_it_carried(vault: Vault, cold: ColdStore, workspace: Workspace, say) -> None:
    entry = say("hello")
    archived = vault.archive_entries([entry], label="overflow")
    (workspace.packs / archived.pages[0].pack).unlink()
    fresh = Vault(workspace.packs, workspace.page_cache, cold, FakeClock())
    with pytest.raises(Damaged):
        fresh.entry_text(cold.entry(entry.seq))
    assert archived.pages[0].id in {problem.where for problem in fresh.check()}


def test_a_page_that_is_not_there_is_said_so(vault: Vault) -> None:
    with pytest.raises(NotFound):
        vault.read_page("pg_000000000000")


# ── files ──


def test_a_page_in_the_cache_reads_by_itself_and_stays_as_long_as_the_setting_says(
    workspace: Workspace, cold: ColdStore, clock: FakeClock
) -> None:
    vault = Vault(workspace.packs, workspace.page_cache, cold, clock, settings=ArchiveSettings(page_cache_days=2))
    first = vault.archive_text(as_given("one"), label="one").pages[0]
    second = vault.archive_text(as_given("two"), label="two").pages[0]
    path = vault.png(first.id)
    assert path.parent == workspace.page_cache
    assert read_png(path).text == "one"
    clock.advance(47 * 3600)
    vault.png(second.id)
    assert path.exists()
    clock.advance(2 * 3600)
    vault.png(second.id)
    assert not path.exists()
    assert vault.png(first.id).exists()  # made again from its pack


def test_pictures_above_the_bound_are_deleted_oldest_first_and_never_those_of_the_last_day(
    workspace: Workspace, cold: ColdStore, clock: FakeClock
) -> None:
    vault = Vault(workspace.packs, workspace.page_cache, cold, clock, settings=ArchiveSettings(page_cache_mb=1))
    pages = vault.archive_text(as_given("".join(f"{n} words\n" for n in range(9_000))), label="long").pages
    old: list[Path] = []
    for page in pages[:9]:  # of 132 kB each: a megabyte and more
        old.append(vault.png(page.id))
        clock.advance(1)
    clock.advance(25 * 3600)
    new = [vault.png(page.id) for page in pages[9:11]]
    clock.advance(2 * 3600)
    vault.png(pages[10].id)
    assert [path.exists() for path in old] == [False] * 4 + [True] * 5
    assert all(path.exists() for path in new)


def test_all_pictures_of_the_last_day_stay_however_many_they_are(
    workspace: Workspace, cold: ColdStore, clock: FakeClock
) -> None:
    vault = Vault(workspace.packs, workspace.page_cache, cold, clock, settings=ArchiveSettings(page_cache_mb=1))
    pages = vault.archive_text(as_given("".join(f"{n} words\n" for n in range(9_000))), label="long").pages
    pictures = [vault.png(page.id) for page in pages]
    assert sum(path.stat().st_size for path in pictures) > 2**20
    clock.advance(23 * 3600)
    vault.close()
    assert all(path.exists() for path in pictures)
    clock.advance(2 * 3600)
    vault.close()
    assert sum(path.stat().st_size for path in pictures if path.exists()) <= 2**20


def test_a_page_spoilt_in_the_cache_is_made_again(vault: Vault) -> None:
    page = vault.archive_text(as_given("one"), label="one").pages[0]
    vault.png(page.id).write_bytes(b"scribble")
    assert read_png(vault.png(page.id)).text == "one"


def test_pages_of_a_deleted_conversation_can_be_let_go(
    vault: Vault, cold: ColdStore, workspace: Workspace, say
) -> None:
    kept = vault.archive_text(as_given("kept"), label="kept")
    entry = say("gone")
    archived = vault.archive_entries([entry], label="overflow")
    cached = vault.png(archived.pages[0].id)
    vault.release([page.id for page in kept.pages])  # an entry stands on it still: it stays
    vault.release(cold.delete_conversation(entry.conversation_seq))
    assert [row.id for row in vault.pages()] == [page.id for page in kept.pages]
    assert [path.name for path in workspace.packs.glob("*.pages")] == [kept.pages[0].pack]
    assert not cached.exists()
    with pytest.raises(NotFound):
        vault.read_page(archived.pages[0].id)


def test_packs_alone_hold_every_word(vault: Vault, workspace: Workspace) -> None:
    vault.archive_text(as_given(LONG), label="notes")
    (path,) = workspace.packs.glob("*.pages")
    pack = Pack(LocalStorage(workspace.packs), path.name)
    assert "".join(read_png(pack.png(n)).text for n in range(len(pack.pages))) == LONG


def test_the_text_beside_an_archive_never_covers_another(tmp_path: Path) -> None:
    first = keep_text(tmp_path, "a/b: c?", as_given("one"))
    assert (first.name, first.read_text("utf-8")) == ("a-b- c.md", "one")
    assert keep_text(tmp_path, "a/b: c?", as_given("one")) == first
    second = keep_text(tmp_path, "a/b: c?", as_given("two"))
    assert (second.name, first.read_text("utf-8"), second.read_text("utf-8")) == ("a-b- c-2.md", "one", "two")
    assert keep_text(tmp_path, "../..", as_given("x")).name == "archive.md"
    assert keep_text(tmp_path, "con", as_given("x")).name == "con-.md"


def test_a_page_forged_with_a_hash_of_its_own_is_exact_for_no_entry(
    vault: Vault, cold: ColdStore, workspace: Workspace, clock: FakeClock
) -> None:
    """Its header, its hash and its pack are all sound: only the index knows what stood there."""
    archived = vault.archive_text(as_given("The heron stands in the reeds."), label="birds")
    (row,) = archived.pages
    (sheet,) = page_sheets([LayoutText("The magpie stands in the reeds")], TINY)
    write_pack(LocalStorage(workspace.packs), row.pack, [picture_of(render_page(sheet, row.id, 1))])
    fresh = Vault(workspace.packs, workspace.page_cache, cold, clock)
    assert fresh.read_page(row.id).trust is Trust.APPROXIMATE
    (conversation,) = cold.conversations(kind="archive")
    assert fresh.entry_text(cold.entry(conversation.leaf or 0)).trust is Trust.APPROXIMATE
    assert fresh.contradicts(row.id, "The magpie stands in the reeds")
    assert not fresh.contradicts(row.id, "The heron stands in the reeds.")
    assert not fresh.contradicts("pg_000000000000", "anything")


# ── parity ──


def test_parity_is_kept_beside_each_pack_and_goes_with_it(
    workspace: Workspace, cold: ColdStore, clock: FakeClock
) -> None:
    vault = Vault(workspace.packs, workspace.page_cache, cold, clock, settings=ArchiveSettings(parity=20))
    (page,) = vault.archive_text(as_given("hello"), label="notes").pages
    assert parity_name(page.pack) in vault.storage.names()
    vault.repacking.run(min_age=timedelta(0), least=1)
    (row,) = vault.pages()
    assert row.pack != page.pack
    assert parity_name(row.pack) in vault.storage.names()
    assert parity_name(page.pack) not in vault.storage.names()
    assert vault.check() == []
