"""Before a vision model what is old stands as page images: which, how drawn, at what cost, and when they move."""

from itertools import pairwise

import msgspec
import pytest

from context.pages.in_view import CHANGED, OFF
from context.pages.lookup import by_reference
from foundation.paths import Workspace
from memory.errors import NotFound
from memory.pages.read.exact import read_exact
from models.chat.port import ImageRule
from models.messages import Image, Text
from models.tokens import image_tokens, request_tokens
from tests.context.conversation import Talk, begins_with, texts
from tests.fakes import FakeClock

pytestmark = pytest.mark.timeout(60)  # by the wall clock: a busy machine takes ten times as long

STORY = (
    "The harbour master of Lisbon wrote that the ferry QF{n:03d} would leave at {n:02d}:40 with order ORD-{n:04d}-X, "
    "and Ann Lee asked whether the lighthouse keeper had counted the white ships before dawn or only after it."
)


def see(talk: Talk, *, name: str = "Qwen3-VL-8B", rule: ImageRule = ImageRule.QWEN3) -> None:
    talk.profile = msgspec.structs.replace(talk.profile, name=name, spec=f"openai:{name}", images=rule)


def fill(talk: Talk, turns: int, first: int = 0) -> None:
    for n in range(first, first + turns):
        talk.send(f"Question {n}. " + STORY.format(n=n), f"Answer {n}. " + STORY.format(n=n + 500))


def until_pages(talk: Talk) -> None:
    n = 0
    while talk.assembled is None or talk.assembled.report.pages is None:
        assert n < 200, "no pages came into view"
        fill(talk, 1, n)
        n += 1


def pictures(talk: Talk) -> list[Image]:
    assert talk.assembled is not None
    return [part for message in talk.assembled.request.messages for part in message.parts if isinstance(part, Image)]


def said(talk: Talk) -> str:
    assert talk.assembled is not None
    return "\n".join(texts(talk.assembled))


@pytest.fixture
def seeing(talk: Talk) -> Talk:
    talk.switch_recall_off()
    see(talk)
    return talk


def test_each_page_reads_back_to_the_letter_what_was_said_with_who_when_and_under_which_id(seeing: Talk) -> None:
    until_pages(seeing)
    assert seeing.assembled is not None and pictures(seeing)
    for picture, recipe in zip(pictures(seeing), seeing.assembled.epoch.pages, strict=True):
        page = read_exact(picture.data)
        assert page.trust.value == "exact"
        heads = [head.head for head in page.heads]
        assert [head.id for head in heads if head] == [seeing.memory.cold.entry(seq).id for seq in recipe.shown]
        for place, head in enumerate(page.heads):
            assert head.head is not None
            entry = seeing.memory.cold.find(head.head.id)
            end = page.heads[place + 1].begin - 1 if place + 1 < len(page.heads) else len(page.text)
            said = page.text[head.end : end]
            assert said and said.removesuffix("…") in seeing.memory.passage(entry).text
            assert (head.head.role, head.head.time) == (entry.role.value, entry.time.replace(microsecond=0))


def test_what_stands_whole_on_pages_is_not_said_by_a_summary_too(workspace: Workspace, clock: FakeClock) -> None:
    talk = Talk(workspace, clock, recall=False, vision_share=0.5)
    see(talk, name="gpt-5", rule=ImageRule.OPENAI_TILES)
    until_pages(talk)
    assert talk.assembled is not None
    assert all(recipe.whole for recipe in talk.assembled.epoch.pages)
    assert "<palimpsest-summary>" not in said(talk)
    assert talk.assembled.epoch.hidden == (talk.receipts[-1].summary_seq,)
    talk.close()


def test_what_does_not_fit_the_vision_budget_stays_in_the_summary(seeing: Talk) -> None:
    seeing.settings = msgspec.structs.replace(seeing.settings, working_tokens=0)
    seeing.reopen()
    until_pages(seeing)
    assert seeing.assembled is not None
    assert not all(recipe.whole for recipe in seeing.assembled.epoch.pages)
    assert "<palimpsest-summary>" in said(seeing) and "shortened" in said(seeing)


def test_the_page_and_its_exact_tokens_stand_side_by_side(seeing: Talk) -> None:
    until_pages(seeing)
    assert seeing.assembled is not None
    parts = seeing.assembled.request.messages[seeing.assembled.request.zones[0]].parts
    at = next(n for n, part in enumerate(parts) if isinstance(part, Image))
    beside = parts[at + 1]
    assert isinstance(beside, Text) and beside.injected == "page"
    first = seeing.memory.cold.entry(seeing.assembled.epoch.pages[0].chapter.entries[0])
    assert first.id in beside.text and "ORD-0" in beside.text and "QF0" in beside.text


def test_the_figures_are_those_of_the_readers_arithmetic_and_sum_up(seeing: Talk) -> None:
    until_pages(seeing)
    assert seeing.assembled is not None
    report = seeing.assembled.report
    assert report.pages is not None and report.pages.count == len(pictures(seeing))
    costs = sum(image_tokens(ImageRule.QWEN3, one.width, one.height) for one in pictures(seeing))
    assert costs < report.pages.tokens < report.pages.stands_for
    assert report.total_tokens == request_tokens(seeing.assembled.request, seeing.counter, ImageRule.QWEN3)
    conversation = report.layers[2]
    source = next(one for one in conversation.sources if one.name == f"pages ({report.pages.count})")
    assert source.tokens == report.pages.tokens
    assert sum(one.tokens for one in conversation.sources) == conversation.tokens
    as_json = report.as_json()
    assert as_json["pages"]["stands_for"] == report.pages.stands_for
    assert report.archive is not None and report.archive.tokens > report.pages.stands_for
    assert report.archive.on_pages == report.pages.stands_for
    assert as_json["archive"] == {"tokens": report.archive.tokens, "on_pages": report.pages.stands_for}


def test_the_pages_keep_to_their_budget(seeing: Talk) -> None:
    until_pages(seeing)
    fill(seeing, 30, 100)
    assert seeing.assembled is not None and seeing.assembled.report.pages is not None
    budget = seeing.assembled.report.budget
    assert seeing.assembled.report.pages.tokens <= budget * seeing.settings.vision_share + 16
    seeing.settings = msgspec.structs.replace(seeing.settings, vision_tokens=800)
    seeing.reopen()
    seeing.write("AGENTS.md", "Be brief.")
    fill(seeing, 1, 200)
    assert seeing.assembled.report.pages is not None
    assert 0 < seeing.assembled.report.pages.tokens <= 800


def test_in_a_large_window_the_pages_keep_to_a_share_of_the_working_set(workspace: Workspace, clock: FakeClock) -> None:
    talk = Talk(workspace, clock, window=131_072, recall=False, working_tokens=8_000)
    see(talk)
    fill(talk, 200)
    assert talk.assembled is not None and talk.assembled.report.pages is not None
    assert talk.assembled.report.pages.tokens <= 8_000 * talk.settings.vision_share + 16
    assert len(talk.receipts) < 40  # with a share of the window, each fourth turn compacts
    talk.close()


def test_pages_stand_still_within_an_epoch_and_in_every_process(seeing: Talk) -> None:
    until_pages(seeing)
    first = seeing.assembled
    assert first is not None
    fill(seeing, 1, 300)
    second = seeing.assembled
    seeing.reopen()
    fill(seeing, 1, 301)
    third = seeing.assembled
    assert second is not None and third is not None
    assert not second.epoch_changed and begins_with(second.request, first.request)
    assert not third.epoch_changed and begins_with(third.request, second.request)
    assert third.report.unchanged_prefix_tokens == third.report.previous_tokens


def test_pages_age_to_smaller_sizes_and_are_drawn_anew_from_exact_text(workspace: Workspace, clock: FakeClock) -> None:
    talk = Talk(workspace, clock, recall=False, vision_share=0.4)
    see(talk)
    until_pages(talk)
    modes: dict[tuple[int, int], set[str]] = {}
    n = 400
    while not any(len(seen) > 1 for seen in modes.values()):
        assert n < 500, "no page aged"
        fill(talk, 1, n)
        n += 1
        assert talk.assembled is not None
        for recipe in talk.assembled.epoch.pages[:-1]:  # the newest may be a short one
            modes.setdefault((recipe.chapter.entries[0], recipe.chapter.start), set()).add(recipe.mode)
    sizes = [picture.width for picture in pictures(talk)][:-1]
    assert sizes == sorted(sizes)
    assert all(read_exact(picture.data).trust.value == "exact" for picture in pictures(talk))
    talk.close()


def test_the_past_is_cut_in_the_same_places_from_epoch_to_epoch(workspace: Workspace, clock: FakeClock) -> None:
    talk = Talk(workspace, clock, recall=False, vision_share=0.4)
    see(talk)
    until_pages(talk)
    assert talk.assembled is not None
    before = {recipe.chapter for recipe in talk.assembled.epoch.pages[:-1]}  # the newest may still grow
    number, n = talk.assembled.epoch.number, 600
    while talk.assembled.epoch.number == number:
        fill(talk, 1, n)
        n += 1
    after = [recipe.chapter for recipe in talk.assembled.epoch.pages]
    assert after[0] in before
    begins = {(chapter.entries[0], chapter.start) for chapter in before}
    assert all(chapter in before for chapter in after if (chapter.entries[0], chapter.start) in begins)
    assert all(one.entries[-1] <= two.entries[0] for one, two in pairwise(after))
    talk.close()


@pytest.mark.parametrize(
    ("name", "rule"),
    [("test", ImageRule.NONE), ("some-llava", ImageRule.QWEN2), ("gpt-4o-mini", ImageRule.OPENAI_TILES)],
)
def test_a_model_without_vision_or_of_unknown_arithmetic_gets_summaries_as_ever(
    talk: Talk, name: str, rule: ImageRule
) -> None:
    talk.switch_recall_off()
    see(talk, name=name, rule=rule)
    while not talk.receipts:
        fill(talk, 1, len(talk.receipts))
    assert not pictures(talk)
    assert talk.assembled is not None and "<palimpsest-summary>" in said(talk)
    assert talk.assembled.report.pages is None


def test_switched_off_they_leave_with_the_next_message(seeing: Talk) -> None:
    until_pages(seeing)
    seeing.settings = msgspec.structs.replace(seeing.settings, resident_pages=False)
    seeing.reopen()
    sent = seeing.send("And now?")
    assert sent.epoch_changed == OFF and not pictures(seeing)
    assert "<palimpsest-summary>" in said(seeing)


def test_hex_and_keys_never_become_pictures(seeing: Talk) -> None:
    import random

    chance = random.Random(3)
    while not seeing.receipts:
        seeing.send(chance.randbytes(300).hex(), chance.randbytes(300).hex())
    assert not pictures(seeing)


def test_an_entry_that_changed_ends_the_epoch(seeing: Talk) -> None:
    until_pages(seeing)
    assert seeing.assembled is not None
    shown = seeing.assembled.epoch.pages[0].chapter.entries[0]
    seeing.reopen()
    text_of = seeing.context.state.pages.text_of
    seeing.context.state.pages.text_of = lambda entry: "Gone." if entry.seq == shown else text_of(entry)
    assert seeing.send("And now?").epoch_changed == CHANGED


def test_an_epoch_stored_before_there_were_pages_is_read(talk: Talk) -> None:
    from context.epoch import decode_epoch

    state = decode_epoch(b'{"number": 3, "reason": "", "model": "m", "window": 8192, "summary": 7}')
    assert state is not None and state.pages == () and state.hidden == ()


def test_the_receipt_tells_of_pages_in_view(seeing: Talk) -> None:
    until_pages(seeing)
    receipt, assembled = seeing.receipts[-1], seeing.assembled
    assert assembled is not None and assembled.report.pages is not None
    assert receipt.pages_in_view == assembled.report.pages.count
    assert receipt.page_tokens == assembled.report.pages.tokens
    assert f"{receipt.stands_for:,} tokens of the archived turns" in receipt.text
    assert abs(assembled.report.total_tokens - receipt.tokens_after) <= 16


def test_who_recalls_a_page_in_view_by_its_id_is_told_which_entries_it_shows(seeing: Talk) -> None:
    until_pages(seeing)
    assert seeing.assembled is not None
    recipe = seeing.assembled.epoch.pages[-1]
    page_id = pictures(seeing)[-1].name.removeprefix("page ")
    with pytest.raises(NotFound) as told:
        by_reference(seeing.memory, page_id)
    for seq in recipe.shown[:24]:
        assert seeing.memory.cold.entry(seq).id in told.value.message
    assert "Recall one of them" in told.value.message
    with pytest.raises(NotFound, match="pg_000000000000") as unknown:
        by_reference(seeing.memory, "pg_000000000000")
    assert "Recall one of them" not in unknown.value.message


def test_a_message_that_needs_the_room_goes_without_pages(seeing: Talk) -> None:
    until_pages(seeing)
    assert seeing.assembled is not None
    room = seeing.assembled.report.budget - seeing.assembled.report.layers[0].tokens
    words = "word " * int(room * 0.84)
    sent = seeing.send(words)
    assert sent.request.messages[-1].text.count("word") == words.count("word")
    assert not pictures(seeing)
