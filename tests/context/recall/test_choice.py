"""Which passages of those that were found are recalled, and in what order they stand."""

from datetime import UTC, datetime

from msgspec.structs import replace

from context.assembly.tokens import MessageCounter
from context.recall.recall import (
    LEAST_A_TOKEN,
    LEAST_LIKELY,
    RecallLimits,
    RecallRequest,
    fit_passages,
    recall_passages,
)
from foundation.trust import Citation, Trust
from memory.search import Hit, SearchResults
from models.chat.port import ImageRule
from models.messages import RecalledSpan
from models.recalled import recalled_block
from models.tokens import Estimate, estimate


def found_by_hand(hits: tuple[Hit, ...], tokens: int = 2000) -> tuple[RecalledSpan, ...]:
    limits, counting = RecallLimits(tokens, 200, 100), MessageCounter(Estimate(), ImageRule.NONE)
    return recall_passages(
        lambda _: SearchResults(query="", total=len(hits), hits=hits), RecallRequest("the vault"), limits, counting
    )


def said(text: str, seq: int, *, conversation: str = "c", day: int = 1, score: float = 0.5, by: str = "") -> Hit:
    time = datetime(2026, 1, day, tzinfo=UTC)
    citation = Citation(kind="entry", ref=f"e_{seq}", conversation=conversation, title=conversation, time=time)
    return Hit(
        id=f"e_{seq}",
        kind="message",
        conversation=conversation,
        entry=seq,
        time=time,
        score=score,
        snippet=text,
        citation=citation,
        trust=Trust.EXACT,
        superseded_by=by,
    )


def test_passages_of_a_day_stand_together_where_the_best_of_them_was_and_in_their_order() -> None:
    hits = (
        said("The vault has a red door.", 8, score=0.9),
        said("Vaults elsewhere are blue.", 90, conversation="d", score=0.7),
        said("Who has been in the vault?", 7, score=0.5),
        said("The vault was empty in spring.", 3, score=0.3),
    )
    parts = found_by_hand(hits)
    assert [part.citation.ref for part in parts] == ["e_3", "e_7", "e_8", "e_90"]
    assert [part.follows for part in parts] == [False, False, True, False]
    assert [part.rank for part in parts] == [3, 2, 0, 1]


def test_short_passages_fill_the_room_and_no_more() -> None:
    hits = tuple(
        said(f"In the vault stands box {n * 7919} with a lid of its own.", 2 * n, score=1 - n / 100) for n in range(90)
    )
    parts = found_by_hand(hits, 600)
    assert 520 <= estimate(recalled_block(parts)) <= 600
    assert {part.rank for part in parts} == set(range(len(parts)))


def test_what_was_superseded_says_when() -> None:
    hits = (
        said("The vault opens at ten.", 9, day=20, score=0.9),
        said("The vault opens at nine.", 2, score=0.8, by="e_9"),
    )
    newer, older = found_by_hand(hits)
    assert (newer.superseded, older.superseded) == ("", "2026-01-20")
    assert "superseded on 2026-01-20: The vault opens at nine." in recalled_block([newer, older])


def test_of_two_that_are_as_relevant_the_shorter_leaves_room_for_more() -> None:
    long = " ".join(f"The vault of house {n} has a door of its own." for n in range(8))
    hits = (
        said(long, 2, score=0.5),
        *(said(f"Key {n * 7919} fits the vault.", n, conversation="d", score=0.5) for n in range(10, 19)),
    )
    assert [part.citation.ref for part in found_by_hand(hits, 150)] == [f"e_{n}" for n in range(10, 19)]
    surely = (said(long, 2, score=0.9), *hits[1:])
    assert found_by_hand(surely, 150)[0].citation.ref == "e_2"


def test_an_unverified_answer_comes_after_what_others_say_however_well_it_matches() -> None:
    answer = replace(said("The vault opens at ten.", 30, score=0.9), unverified=True, trust=Trust.APPROXIMATE)
    hits = (answer, said("Under the vault is a well of clear water.", 2, score=0.5))
    assert [part.citation.ref for part in found_by_hand(hits, 60)] == ["e_2"]
    assert [part.citation.ref for part in found_by_hand(hits)] == ["e_2", "e_30"]


def test_what_an_answer_repeats_is_sent_once_and_a_persons_words_as_they_are() -> None:
    loop = "The vault is upright. " * 3
    hits = (replace(said(loop, 2), role="assistant"), said(loop, 30, conversation="d"))
    assert [part.text for part in found_by_hand(hits)] == ["The vault is upright. …", loop.strip()]


def test_a_passage_whose_label_stands_goes_before_one_that_needs_its_own() -> None:
    hits = (
        said("Under the vault is a well.", 2, score=0.9),
        said("Over the vault is a loft.", 30, conversation="another one with a long name", score=0.5),
        said("By the vault is a gate.", 9, score=0.49),
    )
    assert [part.citation.ref for part in found_by_hand(hits, 74)] == ["e_2", "e_9"]


def scored(*scores: float) -> SearchResults:
    """Hits of about 100 tokens each, with these scores."""
    hits = tuple(
        Hit(
            id=f"e_{n}",
            kind="message",
            conversation=f"c{n}",
            entry=n + 1,
            snippet=" ".join(f"word{n}x{m}" for m in range(40)),
            score=score,
            citation=Citation(kind="entry", ref=f"e_{n}", conversation=f"c{n}", title=f"Talk {n}"),
            trust=Trust.EXACT,
        )
        for n, score in enumerate(scores)
    )
    return SearchResults(query="", total=len(hits), hits=hits, likelihood=0.9)


def test_each_further_passage_must_be_worth_its_tokens() -> None:
    results, counting = scored(1.0, *[0.3] * 12, 0.1), MessageCounter(Estimate(), ImageRule.NONE)
    request = RecallRequest("Which of the words was it?")
    all_that_fit = fit_passages(results, request, RecallLimits(4000, 200, 100, all_that_fit=True), counting)
    assert len(all_that_fit) == 14
    worth = fit_passages(results, request, RecallLimits(4000, 200, 100), counting)
    assert 1 < len(worth) < 8
    assert counting.text(recalled_block(worth)) < 800
    assert min(part.score for part in worth) == 0.3


def test_where_the_best_is_in_view_the_weak_ones_do_not_stand_in_for_it() -> None:
    counting = MessageCounter(Estimate(), ImageRule.NONE)
    request = RecallRequest("Which of the words was it?", entries=frozenset({1}))
    assert fit_passages(scored(1.0, 0.15, 0.1), request, RecallLimits(4000, 200, 100), counting) == ()
    assert len(fit_passages(scored(1.0, 0.5, 0.1), request, RecallLimits(4000, 200, 100), counting)) == 1


def test_a_passage_is_recalled_only_where_it_is_likely_enough_for_its_tokens() -> None:
    counting = MessageCounter(Estimate(), ImageRule.NONE)
    request = RecallRequest("What did we decide about the words, and when?")
    parts = fit_passages(scored(1.0, *[0.55] * 30), request, RecallLimits(20_000, 200, 100), counting)
    assert 1 < len(parts) < 31
    every = fit_passages(
        scored(1.0, *[0.55] * 30), request, RecallLimits(20_000, 200, 100, all_that_fit=True), counting
    )
    assert len(every) == 31
    least = min(part.likelihood for part in parts)
    assert least >= LEAST_A_TOKEN * min(counting.text(part.text) for part in parts)
    assert max(part.likelihood for part in every if part not in parts) <= least


def test_what_is_unsure_to_serve_brings_fewer_passages_and_says_so() -> None:
    counting = MessageCounter(Estimate(), ImageRule.NONE)
    results = scored(0.6, *[0.4] * 30)
    sure = RecallRequest("What did we decide about word0x1 word0x2 word0x3 and when did we talk about it?")
    unsure = RecallRequest("What is a rain?")
    limits = RecallLimits(20_000, 200, 100, threshold=0.0001)
    many, few = (fit_passages(results, request, limits, counting) for request in (sure, unsure))
    assert 0 < len(few) < len(many)
    assert few[0].likelihood < many[0].likelihood
    assert fit_passages(results, unsure, RecallLimits(20_000, 200, 100, threshold=0.9), counting) == ()


def test_beside_another_passage_none_is_recalled_that_hardly_serves_the_message() -> None:
    counting = MessageCounter(Estimate(), ImageRule.NONE)
    request = RecallRequest("What did we decide about the words, and when?")
    results, limits = scored(1.0, *[0.25] * 12), RecallLimits(20_000, 200, 100)
    parts = fit_passages(results, request, limits, counting)
    assert 1 < len(parts) < 13
    assert min(part.likelihood for part in parts) >= LEAST_LIKELY
