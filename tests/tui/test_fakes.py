"""The fake session's turns keep the order of events that the real session keeps."""

from tests.agent.turn.event_order import assert_in_order
from tests.tui.fakes import RECALLED, FakeSession, answer


async def test_an_answer_of_the_fake_is_in_order() -> None:
    fake = FakeSession(lambda text: answer(text, recalled=RECALLED))
    assert_in_order([event async for event in fake.send("The boiler is fine.")])
