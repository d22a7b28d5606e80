"""Which slot of a llama.cpp server a conversation's request goes to."""

from models.chat.open import open_model
from models.chat.openai.slots import SHARED, ServerSlots
from models.messages import PromptCacheSlot, system
from models.settings import ModelSettings
from tests.loopback import Loopback, chat, json_reply
from tests.models.chat.events import all_events, request


def slots(count: int) -> ServerSlots:
    chosen = ServerSlots()
    chosen.use(count)
    return chosen


def in_turn(chosen: ServerSlots, conversations: str) -> list[int | None]:
    return [chosen.slot(name) for name in conversations]


def test_a_conversation_that_comes_back_keeps_a_slot_of_its_own() -> None:
    assert in_turn(slots(2), "AABBABAB") == [None, None, None, None, 0, 1, 0, 1]


def test_new_conversations_go_where_the_head_is() -> None:
    assert in_turn(slots(3), "ABCDE") == [None] * 5
    assert in_turn(slots(3), "ABAC") == [None, None, 0, 2]


def test_of_more_conversations_than_slots_the_least_recently_used_leaves() -> None:
    assert in_turn(slots(3), "ABACBC") == [None, None, 0, 2, 1, 2]
    assert in_turn(slots(3), "ABACBCDCA") == [None, None, 0, 2, 1, 2, 2, 0, 1]


def test_one_slot_and_slots_that_share_a_cache_are_the_servers() -> None:
    for count in (1, SHARED):
        assert in_turn(slots(count), "ABAB") == [None] * 4
    assert slots(2).slot("") is None, "a request of no conversation"


def test_a_server_that_empties_its_slots_chooses_itself() -> None:
    chosen = slots(2)
    in_turn(chosen, "AB")
    assert chosen.slot("A") == 0
    chosen.learn("A", 0)  # read into its slot for the first time
    assert in_turn(chosen, "BA") == [1, 0]
    chosen.learn("A", 0)
    assert in_turn(chosen, "BABA") == [None] * 4


async def test_the_slot_is_sent() -> None:
    props = {"default_generation_settings": {"n_ctx": 4096}, "total_slots": 2}
    with Loopback() as server:
        server.answers("/props", json_reply(props))
        model = open_model(f"openai:m@{server.address}/v1", settings=ModelSettings(), env={})
        await model.prepare()
        before = len(server.requests)
        for name in "ABA":
            server.plays(chat("Yes."))
            await all_events(model, request(system("S"), "Q", cache_slot=PromptCacheSlot(name)))
        await model.close()
        sent = [received.json for received in server.requests[before:]]
    assert [body.get("id_slot") for body in sent] == [None, None, 0]
