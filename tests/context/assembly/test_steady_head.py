"""What of the head fits does not depend on what a counter learned meanwhile."""

import pytest

from foundation.privacy import clear
from models.tokens import Estimate
from tests.context.conversation import Talk


@pytest.mark.parametrize("factor", [0.6, 1.8])
def test_a_counter_that_learned_cuts_the_head_at_the_same_place(small_talk: Talk, factor: float) -> None:
    small_talk.write("AGENTS.md", "\n".join(f"Rule {n}: be careful with number {n}." for n in range(60)))
    first = small_talk.send("Hello.")
    assert any(dropped.name == "AGENTS.md" for dropped in first.report.layers[1].dropped)
    small_talk.counter.learn(1000, int(1000 * factor))
    small_talk.conversation = small_talk.memory.cold.new_conversation(clear("Talk"))
    second = small_talk.send("Hello.")
    assert second.request.messages[0] == first.request.messages[0]


def test_where_that_is_too_large_the_server_s_own_tokens_decide(small_talk: Talk) -> None:
    small_talk.write("AGENTS.md", "\n".join(f"Rule {n}: be careful with number {n}." for n in range(60)))
    first = small_talk.send("Hello.")
    small_talk.counter = Estimate(44)
    small_talk.conversation = small_talk.memory.cold.new_conversation(clear("Talk"))
    report = small_talk.send("Hello.").report
    assert report.total_tokens <= report.window - report.reserve
    assert len(report.messages[0].text) < len(first.report.messages[0].text)
