"""A request that waits for recall or draws pages holds nothing else up, and what is forgotten meanwhile stays so."""

import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

import msgspec
import pytest

from context import AssembledRequest, Turn
from context.pages import draw
from context.pages.in_view import PagesInView
from context.recall.prefetch import Prefetch
from memory.records import Entry
from models.chat.port import ImageRule
from tests.context.conversation import Talk
from tests.context.pages.test_in_view import see, until_pages

pytestmark = pytest.mark.timeout(60)

WAIT = 5.0  # seconds: what is not held up takes a fraction of one


class Gate:
    """Where a thread waits until the test opens it."""

    def __init__(self) -> None:
        self.reached = threading.Event()
        self.open = threading.Event()

    def __call__(self) -> None:
        self.reached.set()
        self.open.wait(10 * WAIT)

    @contextmanager
    def held(self, work: Callable[[], object]) -> Generator[None]:
        """The work runs in another thread, and has reached the gate; it is let through at the end."""
        thread = threading.Thread(target=work)
        thread.start()
        try:
            assert self.reached.wait(WAIT)
            yield
        finally:
            self.open.set()
            thread.join()


@pytest.fixture
def gate() -> Gate:
    return Gate()


def ends(work: Callable[[], object]) -> bool:
    """Whether the work ends soon, in a thread of its own."""
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(WAIT)
    return not thread.is_alive()


def others(talk: Talk, before: AssembledRequest) -> dict[str, Callable[[], object]]:
    """What other threads do while a request is made."""
    assert talk.conversation is not None
    conversation = talk.conversation
    return {
        "reload": talk.context.reload,
        "skills": talk.context.skills,
        "record": lambda: talk.context.record(conversation, None, before),
    }


def test_nothing_waits_for_a_request_that_waits_for_recall(talk: Talk, gate: Gate) -> None:
    talk.settings = msgspec.structs.replace(talk.settings, recall_wait=2 * WAIT)
    talk.reopen()
    before = talk.send("The ferry leaves at seven.")

    class Waiting(Prefetch):
        def wait(self, seconds: float) -> None:
            gate()

    turn = Turn(
        conversation=talk.conversation,
        leaf=talk.leaf,
        text="When does it leave?",
        prefetch=Waiting(lambda: None, talk.memory.search.query),
    )
    with gate.held(lambda: talk.context.assemble(turn, talk.profile, talk.counter)):
        assert [name for name, work in others(talk, before).items() if not ends(work)] == []


def test_nothing_waits_for_pages_that_are_drawn(talk: Talk, gate: Gate, monkeypatch: pytest.MonkeyPatch) -> None:
    talk.switch_recall_off()
    see(talk, name="gpt-5", rule=ImageRule.OPENAI_TILES)
    until_pages(talk)
    assert talk.assembled is not None
    before = talk.assembled
    talk.reopen()
    drawn = draw.draw_page

    def slow(*given: Any) -> draw.PageParts:
        gate()
        return drawn(*given)

    monkeypatch.setattr(draw, "draw_page", slow)
    with gate.held(lambda: talk.preview("And now?")):
        assert [name for name, work in others(talk, before).items() if not ends(work)] == []


def test_a_page_drawn_while_its_words_are_forgotten_is_drawn_again(talk: Talk, gate: Gate) -> None:
    talk.switch_recall_off()
    see(talk, name="gpt-5", rule=ImageRule.OPENAI_TILES)
    until_pages(talk)
    assert talk.assembled is not None
    recipes = talk.assembled.epoch.pages
    read: list[str] = []

    def text_of(entry: Entry) -> str:
        read.append(entry.id)
        gate()
        return talk.memory.passage(entry).text

    pages = PagesInView(talk.memory.conversations, text_of, talk.settings)
    with gate.held(lambda: pages.draw(recipes)):
        pages.forget()
    before = len(read)
    pages.draw(recipes)
    assert len(read) > before  # nothing of the first drawing was kept
    before = len(read)
    pages.draw(recipes)
    assert len(read) == before
