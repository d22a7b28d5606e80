"""What old tool results and recalled passages become once a request passes the working set."""

import re

import pytest
from msgspec.structs import replace

from agent.commands.tables import savings_sentences
from context import AssembledRequest
from context.errors import RequestTooLarge
from context.working_set.policy import KEPT_RESULTS
from context.working_set.receipt import REDUCED
from context.working_set.reductions import reduced
from memory.records import EntryKind
from models.chat.port import ImageRule
from models.messages import Message, Role, ToolResult
from models.tokens import estimate
from tests.context.conversation import Talk, begins_with

OUTPUT = "def keel(ship):\n" + "".join(f"    ship.plank({n})\n" for n in range(300))


def results(assembled: AssembledRequest) -> list[str]:
    return [
        part.text for message in assembled.request.messages for part in message.parts if isinstance(part, ToolResult)
    ]


def is_line(text: str) -> bool:
    return re.fullmatch(r"\[301 lines, [\d,]+ characters, .*recall e_\w+ .*It showed: keel\]", text) is not None


@pytest.fixture
def working(talk: Talk) -> Talk:
    """An agent's session in a large window, with a working set of 16,000 tokens: half, because tools fill it."""
    talk.switch_recall_off()
    talk.profile = replace(talk.profile, window=131_072)
    talk.settings = replace(talk.settings, working_tokens=32_000)
    talk.reopen()
    talk.send("Read them all.", None)
    return talk


def until_reduced(talk: Talk) -> AssembledRequest:
    """Calls tools until old results are lines."""
    for n in range(40):
        before = talk.assembled
        talk.call_tool(f"call_{n}", OUTPUT)
        now = talk.go_on()
        if now.epoch_changed:
            return now
        assert before is not None
        assert begins_with(now.request, before.request)
        assert not any(map(is_line, results(now)))
    raise AssertionError("nothing was reduced")


def test_past_the_working_set_all_but_the_newest_results_become_a_line_each(working: Talk) -> None:
    now = until_reduced(working)
    shown = results(now)
    assert [is_line(text) for text in shown] == [True] * (len(shown) - KEPT_RESULTS - 1) + [False] * (KEPT_RESULTS + 1)
    assert now.report.total_tokens < 0.6 * 16_000
    receipt = now.reduction
    assert receipt is not None and now.epoch_changed == REDUCED
    assert receipt.tokens_after == now.report.total_tokens < receipt.tokens_before > 16_000
    assert f"Request: {receipt.tokens_before:,} → {receipt.tokens_after:,} tokens. " in receipt.text
    assert f"{len(shown) - KEPT_RESULTS - 1} old tool results were cut to one line each." in receipt.text
    assert len(receipt.reductions) == len(shown) - KEPT_RESULTS - 1
    assert working.receipts == []


def test_the_receipt_names_each_entry_with_its_tool_and_its_sizes(working: Talk) -> None:
    now = until_reduced(working)
    assert now.reduction is not None
    lines = {id_: text for text in results(now) if is_line(text) for id_ in re.findall(r"e_\w+", text)}
    assert [item.entry for item in now.reduction.reductions] == list(lines)
    for item in now.reduction.reductions:
        assert item.tool == "search_memory"
        assert abs(item.before - estimate(OUTPUT)) < 40 and abs(item.after - estimate(lines[item.entry])) < 40
    saved = sum(item.saved for item in now.reduction.reductions)
    assert now.reduction.tokens_before - now.reduction.tokens_after == saved


def test_what_is_reduced_is_reported_until_it_leaves_and_told_once(working: Talk) -> None:
    reductions = until_reduced(working).report.reduced
    assert reductions
    working.reopen()
    working.call_tool("call_later", OUTPUT)
    later = working.go_on()
    assert later.report.reduced == reductions and later.reduction is None
    (sentence,) = [text for text in savings_sentences(later.report) if text.startswith("Working set: ")]
    assert f"{len(reductions)} old tool results shortened to a line each (search_memory {len(reductions)})" in sentence
    assert f"instead of {sum(item.before for item in reductions):,}" in sentence


def test_what_a_compaction_reduces_has_a_receipt_too(working: Talk) -> None:
    for n in range(5):
        working.send(f"Look {n}.", None)
        for m in range(4):
            working.call_tool(f"call_{n}_{m}", OUTPUT[:2_000])
            working.go_on()
        working.append(Role.ASSISTANT, f"Seen {n}.")
    assert working.assembled is not None and not working.assembled.report.reduced
    assert working.compact() is not None
    now = working.send("And now?")
    assert now.reduction is not None and now.epoch_changed == "older turns were archived"
    assert now.reduction.tokens_after == now.report.total_tokens
    assert {item.entry for item in now.reduction.reductions} == {item.entry for item in now.report.reduced}


def test_each_line_brings_its_result_back_to_the_letter(working: Talk) -> None:
    lines = [text for text in results(until_reduced(working)) if is_line(text)]
    for line in lines:
        (id_,) = re.findall(r"e_\w+", line)
        assert working.memory.passage(working.memory.cold.find(id_)).text == OUTPUT


def test_the_lines_stand_until_the_next_epoch_in_another_process_too(working: Talk) -> None:
    reduced = until_reduced(working)
    working.reopen()
    working.call_tool("call_later", OUTPUT)
    assert begins_with(working.go_on().request, reduced.request)
    working.append(Role.ASSISTANT, "All are read.")
    assert begins_with(working.send("Thanks.").request, reduced.request)


def test_what_the_model_has_not_read_stays_whole(working: Talk) -> None:
    for n in range(12):
        calls = [{"id": f"c{n}", "name": "search_memory", "arguments": "{}"}]
        working.append(Role.ASSISTANT, "", meta={"tool_calls": calls})
        meta = {"call_id": f"c{n}", "name": "search_memory", "failed": False}
        working.append(Role.TOOL, OUTPUT, kind=EntryKind.TOOL_RESULT, meta=meta)
    parallel = [{"id": f"p{n}", "name": "search_memory", "arguments": "{}"} for n in range(5)]
    working.append(Role.ASSISTANT, "", meta={"tool_calls": parallel})
    for n in range(5):
        meta = {"call_id": f"p{n}", "name": "search_memory", "failed": False}
        working.append(Role.TOOL, OUTPUT, kind=EntryKind.TOOL_RESULT, meta=meta)
    shown = results(working.go_on())
    assert shown[-5:] == [OUTPUT] * 5


def test_many_calls_stay_within_the_working_set_and_every_result_is_kept(working: Talk) -> None:
    working.settings = replace(working.settings, working_tokens=8_000)
    working.reopen()
    short = OUTPUT[:1_600]
    sizes: list[int] = []
    for n in range(50):
        working.call_tool(f"call_{n}", short)
        sizes.append(working.go_on().report.total_tokens)
    assert max(sizes) <= 4_000
    assert working.receipts, "older turns left"
    kept = [e for e in working.memory.cold.path(working.leaf or 0) if e.kind is EntryKind.TOOL_RESULT]
    assert [working.memory.passage(entry).text for entry in kept] == [short] * 50


def test_without_a_working_set_the_window_is_filled(working: Talk) -> None:
    working.settings = replace(working.settings, working_tokens=0)
    working.reopen()
    for n in range(20):
        working.call_tool(f"call_{n}", OUTPUT)
        assert not any(map(is_line, results(working.go_on())))


def test_old_messages_lose_what_was_recalled_for_them_and_keep_their_words(talk: Talk) -> None:
    talk.profile = replace(talk.profile, window=16_384)
    talk.settings = replace(talk.settings, working_tokens=2_300)
    talk.reopen()
    for n in range(30):
        talk.conversation = talk.conversation if n % 10 else None
        talk.send(f"The lighthouse of island {n} has {n * 7919} lamps and a keeper called Ann{n}. " * 3)
    talk.conversation = None
    question = "How many lamps has the lighthouse of island {n}, and who is its keeper?"
    first = talk.send(question.format(n=0))
    assert len(first.recalled) > 3
    reduced = next(now for n in range(1, 20) if (now := talk.send(question.format(n=n))).epoch_changed)
    asked = next(message for message in reduced.request.messages if question.format(n=0) in message.text)
    assert asked.text == question.format(n=0)
    assert talk.receipts == []


def test_words_that_the_person_hid_stay_in_the_request_when_their_message_is_reduced(talk: Talk) -> None:
    talk.profile = replace(talk.profile, window=16_384)
    talk.settings = replace(talk.settings, working_tokens=2_300)
    talk.reopen()
    for n in range(30):
        talk.conversation = talk.conversation if n % 10 else None
        talk.send(f"The lighthouse of island {n} has {n * 7919} lamps and a keeper called Ann{n}. " * 3)
    talk.conversation = None
    question = "How many lamps has the lighthouse of island {n}, and who is its keeper?"
    talk.send(f"{question.format(n=0)} <private>Mine is Bob.</private>")
    reduced = next(now for n in range(1, 20) if (now := talk.send(question.format(n=n))).epoch_changed)
    assert talk.receipts == []
    asked = next(message for message in reduced.request.messages if question.format(n=0) in message.text)
    assert "Mine is Bob." in asked.text
    assert "palimpsest-recalled" not in asked.text


def test_memory_may_bring_a_result_that_is_a_line_and_nothing_that_is_whole(working: Talk) -> None:
    assembled = until_reduced(working)
    view = working.context.state.history.view(working.leaf, 100_000)
    shorter = reduced(view, assembled.epoch.reduced)
    lines = {entry.seq for entry in shorter.entries if is_line(str(entry.meta.get("shown", "")))}
    assert lines == set(assembled.epoch.reduced)
    assert shorter.readable == view.seqs - lines


def test_an_unchanged_head_keeps_its_bytes_over_a_compaction(working: Talk) -> None:
    working.write("AGENTS.md", "Be brief.")
    working.context.reload()
    heads: list[Message] = []
    for n in range(60):
        working.call_tool(f"call_{n}", OUTPUT)
        heads.append(working.go_on().request.messages[0])
        if len(working.receipts) == 2:
            break
    assert len(working.receipts) == 2
    assert "Be brief." in heads[1].text
    assert heads[1:] == [heads[1]] * (len(heads) - 1)


def test_pages_that_give_way_in_the_same_request_leave_the_reduced_results_reduced(talk: Talk) -> None:
    talk.switch_recall_off()
    talk.profile = replace(talk.profile, name="Qwen3-VL-8B", spec="openai:Qwen3-VL-8B", images=ImageRule.QWEN3)
    while talk.assembled is None or talk.assembled.report.pages is None:
        talk.send("What did the harbour master write? " * 20, "The ferry leaves at seven, he wrote. " * 20)
    talk.send("Read it.", None)
    for number in range(8):
        talk.append(Role.ASSISTANT, "", meta={"tool_calls": [call(f"call_{number}")]})
        talk.append(Role.TOOL, OUTPUT[:2_500], kind=EntryKind.TOOL_RESULT, meta=result(f"call_{number}"))
    talk.append(Role.ASSISTANT, "", meta={"tool_calls": [call("last")]})
    talk.append(Role.TOOL, "plank " * 6_500, kind=EntryKind.TOOL_RESULT, meta=result("last"))
    with pytest.raises(RequestTooLarge):
        talk.go_on()


def call(id_: str) -> dict[str, str]:
    return {"id": id_, "name": "search_memory", "arguments": '{"query": "x"}'}


def result(id_: str) -> dict[str, object]:
    return {"call_id": id_, "name": "search_memory", "failed": False}
