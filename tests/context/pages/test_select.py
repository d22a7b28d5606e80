"""Which of the past stands on which page, by itself: entries in, recipes out."""

from datetime import UTC, datetime

import pytest

from context.assembly.tokens import MessageCounter
from context.pages.layout import ShownTextOf
from context.pages.recipe import ChapterStart
from context.pages.select import PageSelection, SelectionPolicy, choose_pages, size_ladder
from memory.errors import Damaged
from memory.pages.cost.profiles import profile_named
from memory.records import Entry, EntryKind
from models.chat.port import ImageRule
from models.messages import Role
from models.tokens import Estimate

SAID = "The harbour master wrote that ferry number {n} would leave with the tide, and nobody in the room believed him. "


def entries(count: int) -> list[Entry]:
    return [
        Entry(
            seq=n,
            id=f"e_{n}",
            conversation="c",
            conversation_seq=1,
            parent=n - 1,
            kind=EntryKind.MESSAGE,
            role=Role.USER,
            time=datetime(2026, 3, 14, tzinfo=UTC),
            text=SAID.format(n=n) * 3,
            chars=300,
        )
        for n in range(1, count + 1)
    ]


def words(entry: Entry) -> str:
    return entry.text or ""


def choose(
    past: list[Entry], room: int, *, begin: ChapterStart | None = None, read: ShownTextOf = words
) -> PageSelection:
    sizes = size_ladder(profile_named("qwen3-vl"), room)
    return choose_pages(
        past, begin, SelectionPolicy(sizes, room, read, MessageCounter(Estimate(), ImageRule.QWEN3), {})
    )


@pytest.mark.parametrize("room", [700, 2000, 5000, 12_000])
def test_pages_keep_to_the_room_and_save_tokens(room: int) -> None:
    choice = choose(entries(200), room)
    assert choice.pages
    tokens = sum(page.tokens for page in choice.pages)
    assert tokens <= room
    assert tokens < sum(page.stands_for for page in choice.pages)


def test_where_there_is_no_room_there_are_no_pages() -> None:
    assert choose(entries(200), 200) == PageSelection()


def test_the_newest_are_chosen_first_and_nothing_between_is_left_out() -> None:
    seqs = [seq for page in choose(entries(200), 3000).pages for seq in page.chapter.entries]
    assert sorted(set(seqs)) == list(range(min(seqs), 201))


def test_from_where_the_last_epoch_began_the_past_is_cut_in_the_same_places() -> None:
    past = entries(300)
    before = choose(past[:260], 2500)
    chapters = [page.chapter for page in before.pages[:-1]]
    assert chapters and before.begin and before.begin.entry > 3
    shorter = past[before.begin.entry - 3 : 270]  # read back to somewhere else than the last time
    after = [page.chapter for page in choose(shorter, 2500, begin=before.begin).pages]
    elsewhere = [page.chapter for page in choose(shorter, 2500).pages]
    assert set(after) & set(chapters)
    assert not set(elsewhere) & set(chapters)


def test_an_entry_that_cannot_be_read_is_told_and_left_to_the_summary() -> None:
    def read(entry: Entry) -> str:
        if entry.seq == 150:
            raise Damaged("A pack", "It is torn.", "Run `palimpsest check`.")
        return words(entry)

    choice = choose(entries(200), 12_000, read=read)
    assert choice.unread == ("It is torn.",)
    assert all(150 not in page.chapter.entries for page in choice.pages)
    assert 150 not in choice.whole and 200 in choice.whole


def test_a_shortened_page_shows_the_beginnings_of_its_longest_entries() -> None:
    page = next(page for page in choose(entries(300), 12_000).pages if not page.whole)
    assert page.most >= 40
    assert set(page.shown) <= set(page.chapter.entries)
