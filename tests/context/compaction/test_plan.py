"""Which turns leave: whole ones, the oldest first, no more than must; and a running turn keeps its question."""

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from context.assembly.view import BranchView
from context.compaction.plan import CompactionBudget, plan_entries, turns_of
from context.settings import ContextSettings
from memory.records import Entry, EntryKind
from models.messages import Role

Q, A, C, T = "question", "answer", "call", "result"


def entry(seq: int, what: str) -> Entry:
    kind = EntryKind.TOOL_RESULT if what == T else EntryKind.MESSAGE
    role = {Q: Role.USER, A: Role.ASSISTANT, C: Role.ASSISTANT, T: Role.TOOL}[what]
    return Entry(
        seq=seq,
        id=f"e_{seq}",
        conversation="c",
        conversation_seq=1,
        parent=seq - 1 or None,
        kind=kind,
        role=role,
        time=datetime(2026, 3, 14, tzinfo=UTC),
        text="x",
        chars=1,
        meta={"tool_calls": [{"id": f"c{seq}"}]} if what == C else {},
    )


def entries(*what: str) -> tuple[Entry, ...]:
    return tuple(entry(n, one) for n, one in enumerate(what, 1))


turn = st.sampled_from([(Q, A), (Q, C, T, A), (Q, C, T, T, C, T, A), (Q,)])
running_turn = st.sampled_from([(Q,), (Q, C, T), (Q, C, T, C, T), (Q, C, T, C, T, T, C, T)])


@given(st.lists(turn, max_size=12), running_turn | st.none(), st.lists(st.integers(1, 900), min_size=80, max_size=80))
def test_whole_turns_leave_and_nothing_is_lost(
    done: list[tuple[str, ...]], current: tuple[str, ...] | None, sizes: list[int]
) -> None:
    held = entries(*(what for one in [*done, *([current] if current else [])] for what in one))
    tokens = {one.seq: sizes[one.seq % 80] for one in held}
    figures = CompactionBudget(fixed=300, summaries=0, low=1000, high=2000)
    plan = plan_entries(BranchView((), held), tokens, figures, ContextSettings(), running=current is not None)
    if plan is None:
        return
    assert sorted(one.seq for one in (*plan.leaving, *plan.kept)) == [one.seq for one in held]
    asked = {one.seq for one in plan.kept if one.meta.get("tool_calls")}
    for one in plan.kept:
        if one.kind is EntryKind.TOOL_RESULT:
            assert any(call < one.seq for call in asked), "a result stays without its call"
    for left in plan.leaving:
        if left.meta.get("tool_calls"):
            following = [one for one in plan.kept if one.seq == left.seq + 1]
            assert not following or following[0].kind is not EntryKind.TOOL_RESULT, "a call leaves without its result"
    if current:
        question = next(one for one in reversed(held) if one.role is Role.USER)
        assert question in plan.kept and question not in plan.leaving
        assert held[-1] in plan.kept
    elif plan.kept:
        assert plan.kept[0].role is Role.USER
    saved = sum(tokens[one.seq] for one in plan.leaving)
    assert saved > plan.summary_limit or plan.joins


def test_turns_begin_with_a_question() -> None:
    turns = turns_of(entries(A, Q, C, T, A, Q))
    assert [[one.seq for one in turn] for turn in turns] == [[1], [2, 3, 4, 5], [6]]


def test_what_would_save_nothing_does_not_leave() -> None:
    held = entries(Q, A)
    figures = CompactionBudget(fixed=1990, summaries=0, low=1000, high=2000)
    assert plan_entries(BranchView((), held), {1: 5, 2: 5}, figures, ContextSettings(), running=False) is None


def test_the_last_turn_stays_where_it_fits() -> None:
    held = entries(Q, A, Q, A)
    figures = CompactionBudget(fixed=300, summaries=0, low=1000, high=2000)
    plan = plan_entries(
        BranchView((), held), {1: 500, 2: 500, 3: 500, 4: 500}, figures, ContextSettings(), running=False
    )
    assert plan is not None and [one.seq for one in plan.kept] == [3, 4] and plan.first_kept == 3


class CountedReads(dict[int, int]):
    """Tokens that count how often they are read."""

    reads = 0

    def get(self, key: int, default: int = 0, /) -> int:  # type: ignore[override]  # only as it is called here
        self.reads += 1
        return super().get(key, default)


def test_a_long_conversation_is_planned_in_one_pass() -> None:
    held = entries(*(Q, C, T, A) * 500, *(Q, *(C, T) * 500))
    tokens = CountedReads({one.seq: 10 for one in held})
    figures = CompactionBudget(fixed=300, summaries=100, low=400, high=500, own=200)
    plan = plan_entries(BranchView((), held), tokens, figures, ContextSettings(), running=True)
    assert plan is not None and len(plan.leaving) > 2_900
    assert tokens.reads <= 4 * len(held)


def test_a_message_without_an_answer_is_no_turn_of_its_own() -> None:
    held, tokens = entries(Q, A, Q, A, Q, Q), {1: 500, 2: 500, 3: 500, 4: 500, 5: 5, 6: 5}
    figures = CompactionBudget(fixed=300, summaries=0, low=1000, high=2000)
    for running in (False, True):
        plan = plan_entries(BranchView((), held), tokens, figures, ContextSettings(), running=running)
        assert plan is not None and [one.seq for one in plan.kept] == [3, 4, 5, 6], "the last answer stays"
