"""Recall with an embedder: what it means is found, a dead server leaves the words, a slow one is not waited for."""

import threading
import time
from collections.abc import Iterator

import msgspec
import pytest

from context import AssembledRequest, Context, Turn
from foundation.paths import Workspace
from memory.memory import Memory
from memory.search.embedding import EmbedderSet
from tests.context.conversation import Talk, remembered
from tests.fakes import FakeClock
from tests.memory.search.vectors.fake_embedder import FakeEmbedder

QUESTION = "Which gate does the ferry to Hydra leave from?"


@pytest.fixture
def embedder() -> Iterator[FakeEmbedder]:
    fake = FakeEmbedder()
    yield fake
    fake.waits.set()  # nobody waits on when the test ends


@pytest.fixture
def embedded(workspace: Workspace, clock: FakeClock, embedder: FakeEmbedder) -> Iterator[Talk]:
    talk = Talk(workspace, clock)
    talk.settings = msgspec.structs.replace(talk.settings, recall_wait=0.2)
    talk.memory.close()
    talk.memory = Memory.open(workspace, clock, embedding=EmbedderSet.of(embedder))
    talk.context = Context(workspace, talk.memory, talk.settings, clock)
    remembered(talk, "The ferry to Hydra leaves at seven from gate E8.", "It rained all day.")
    assert talk.memory.search.vectors.fill().done
    yield talk
    embedder.waits.set()
    talk.close()


def sent(talk: Talk) -> AssembledRequest:
    """As a turn does: asked ahead in a thread, waited for at the last."""
    ahead = talk.context.prefetch(None, QUESTION, talk.profile)
    assert ahead is not None
    asking = threading.Thread(target=ahead.run)
    asking.start()
    try:
        return talk.context.assemble(Turn(text=QUESTION, prefetch=ahead), talk.profile, talk.counter)
    finally:
        if talk.settings.recall_wait > 1:
            asking.join()


def test_the_embedder_is_asked_for_what_a_message_recalls(embedded: Talk, embedder: FakeEmbedder) -> None:
    embedded.settings = msgspec.structs.replace(embedded.settings, recall_wait=9.0)
    embedded.context = Context(embedded.workspace, embedded.memory, embedded.settings, embedded.clock)
    assert sent(embedded).recalled[0].text.startswith("The ferry to Hydra")
    assert embedder.questions


def test_a_dead_server_leaves_the_words(embedded: Talk, embedder: FakeEmbedder) -> None:
    embedder.is_down = True
    embedded.settings = msgspec.structs.replace(embedded.settings, recall_wait=9.0)
    embedded.context = Context(embedded.workspace, embedded.memory, embedded.settings, embedded.clock)
    found = sent(embedded)
    assert found.recalled[0].text.startswith("The ferry to Hydra") and found.notices == ()
    assert "no server" in embedded.memory.search.vectors.trouble


def test_a_server_that_is_slow_is_not_waited_for(embedded: Talk, embedder: FakeEmbedder) -> None:
    embedder.waits.clear()
    began = time.monotonic()
    found = sent(embedded)
    assert time.monotonic() - began < 8  # the embedder itself would take ten
    assert found.recalled == ()
    assert "took too long" in str(found.notices[0])
    embedder.waits.set()
