"""The queue of waiting messages, without a screen."""

import asyncio
from collections.abc import Callable

import pytest

from agent.message_queue import MessageQueue, QueuedMessage


class FakeFace:
    """A face that records what the queue reports, and a handler that waits for `gate` before each answer."""

    def __init__(self, answers: Callable[[str], bool] = lambda _text: True) -> None:
        self.queue = MessageQueue(on_change=self._changed, on_return=self.returned)
        self.prompt: list[str] = []
        self.handled: list[str] = []
        self.shown: list[tuple[bool, list[str]]] = []
        self.gate = asyncio.Semaphore(0)
        self._answers = answers

    def _changed(self) -> None:
        self.shown.append((self.queue.busy, [message.text for message in self.queue.waiting]))

    def returned(self, texts: list[str]) -> None:
        self.prompt += texts

    async def handle(self, message: QueuedMessage) -> bool:
        self.handled.append(message.text)
        await self.gate.acquire()
        return self._answers(message.text)

    async def begin(self, *texts: str) -> tuple[list[QueuedMessage], asyncio.Task[None]]:
        """Adds the messages and returns once the first is being handled."""
        messages = [self.queue.add(text) for text in texts]
        task = asyncio.create_task(self.queue.drain(self.handle))
        await asyncio.sleep(0)
        return messages, task

    def let_through(self, count: int = 9) -> None:
        for _ in range(count):
            self.gate.release()


def texts(queue: MessageQueue) -> list[str]:
    return [message.text for message in queue.waiting]


async def test_messages_are_handled_in_order_one_at_a_time() -> None:
    face = FakeFace()
    _, task = await face.begin("one", "two", "three")
    assert (face.handled, texts(face.queue), face.queue.busy) == (["one"], ["two", "three"], True)
    face.let_through()
    await task
    assert face.handled == ["one", "two", "three"]
    assert face.queue.is_idle
    assert face.prompt == []


async def test_a_message_added_during_a_turn_is_handled_after_it() -> None:
    face = FakeFace()
    _, task = await face.begin("one")
    face.queue.add("two")
    assert face.handled == ["one"]
    face.let_through()
    await task
    assert face.handled == ["one", "two"]


async def test_run_waits_for_messages_until_it_is_cancelled() -> None:
    face = FakeFace()
    task = asyncio.create_task(face.queue.run(face.handle))
    face.let_through()
    for text in ("one", "two"):
        face.queue.add(text)
        while not face.queue.is_idle:
            await asyncio.sleep(0)
    assert face.handled == ["one", "two"]
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_waiting_message_can_be_edited_in_its_place() -> None:
    face = FakeFace()
    (one, two, _), task = await face.begin("one", "two", "three")
    assert face.queue.edit(two.id, "two, better")
    assert texts(face.queue) == ["two, better", "three"]
    assert not face.queue.edit(one.id, "too late")
    face.let_through()
    await task
    assert face.handled == ["one", "two, better", "three"]


async def test_a_waiting_message_can_be_removed() -> None:
    face = FakeFace()
    (one, two, _), task = await face.begin("one", "two", "three")
    assert face.queue.remove(two.id) == two
    assert face.queue.remove(two.id) is None
    assert face.queue.remove(one.id) is None
    face.let_through()
    await task
    assert face.handled == ["one", "three"]
    assert face.prompt == []


async def test_messages_that_steer_go_first_and_are_taken_together() -> None:
    face = FakeFace()
    _, task = await face.begin("one", "two")
    for text in ("left", "right"):
        face.queue.add(text, steers=True)
    assert texts(face.queue) == ["left", "right", "two"]
    assert [message.text for message in face.queue.take_steering()] == ["left", "right"]
    assert texts(face.queue) == ["two"]
    face.queue.add("late", steers=True)
    face.let_through()
    await task
    assert face.handled == ["one", "late", "two"]


async def test_a_failed_turn_returns_the_messages_after_it() -> None:
    face = FakeFace(lambda text: text != "one")
    _, task = await face.begin("one", "two", "three")
    face.let_through()
    await task
    assert face.handled == ["one"]
    assert face.prompt == ["two", "three"]
    assert face.queue.is_idle


async def test_the_queue_goes_on_after_a_failed_turn() -> None:
    face = FakeFace(lambda text: text != "one")
    _, task = await face.begin("one", "two")
    face.let_through()
    await task
    face.queue.add("three")
    await face.queue.drain(face.handle)
    assert face.handled == ["one", "three"]


async def test_an_error_of_the_handler_is_raised_and_nothing_is_lost() -> None:
    def broken(_text: str) -> bool:
        raise ValueError("a defect")

    face = FakeFace(broken)
    _, task = await face.begin("one", "two")
    face.let_through()
    with pytest.raises(ValueError, match="a defect"):
        await task
    assert face.prompt == ["two"]
    assert face.queue.is_idle


async def test_a_cancelled_turn_returns_the_messages_after_it() -> None:
    face = FakeFace()
    _, task = await face.begin("one", "two")
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert face.prompt == ["two"]
    assert not face.queue.busy


async def test_stopping_returns_what_waits_and_lets_the_turn_end() -> None:
    face = FakeFace()
    _, task = await face.begin("one", "two", "three")
    assert face.queue.return_unsent() == ["two", "three"]
    assert face.queue.busy
    face.let_through()
    await task
    assert face.handled == ["one"]
    assert face.prompt == ["two", "three"]


async def test_a_request_to_show_an_entry_is_dropped_and_not_returned_as_text() -> None:
    face = FakeFace()
    _, task = await face.begin("one", "two")
    face.queue.add("boiler", entry=7)
    face.queue.return_unsent()
    assert face.prompt == ["two"]
    assert face.queue.waiting == ()
    face.let_through()
    await task


async def test_a_face_sees_each_change() -> None:
    face = FakeFace()
    _, task = await face.begin("one", "two")
    face.let_through()
    await task
    assert face.shown == [
        (False, ["one"]),
        (False, ["one", "two"]),
        (True, ["two"]),
        (False, ["two"]),
        (True, []),
        (False, []),
    ]
