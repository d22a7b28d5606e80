"""Vectors in use: made by hand, in the background, told of in stats and by the doctor."""

import asyncio
import json
import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from agent.background.jobs import VectorJob
from agent.background.scheduler import StepResult
from agent.config.config import Config
from agent.session import Session
from foundation.paths import Workspace
from memory.memory import Memory
from memory.search.embedding import EmbedderSet
from models.embed.settings import EmbedSettings
from tests.agent.conftest import Run
from tests.fakes import FakeClock
from tests.loopback import Loopback, Received, Reply, Stall, json_reply
from tests.memory.search.conversation import Talk
from tests.memory.search.vectors.fake_embedder import FakeEmbedder
from tests.models.embed.tiny_models import bag_onnx

pytest.importorskip("onnxruntime")


@pytest.fixture
def bag(tmp_path: Path) -> str:
    return f"onnx:{bag_onnx(tmp_path / 'bag')}"


@pytest.fixture
def loopback() -> Iterator[Loopback]:
    with Loopback() as server:
        yield server


Says = Callable[..., None]


@pytest.fixture
def said(run: Run, tmp_path: Path) -> Says:
    """Texts imported, each as a message."""

    def one(*texts: str) -> None:
        lines = "\n".join(json.dumps({"text": text, "conversation": "c", "role": "user"}) for text in texts)
        (tmp_path / "said.jsonl").write_text(lines, encoding="utf-8")
        assert run("import", str(tmp_path / "said.jsonl")).status == 0

    return one


def vectors_of(request: Received) -> Reply:
    return json_reply(
        {"data": [{"embedding": [1.0, len(text)], "index": at} for at, text in enumerate(request.json["input"])]}
    )


# ── by hand ──


def test_vectors_are_made_now(run: Run, said: Says, bag: str) -> None:
    said("the boiler", "tea", "the ferry")
    made = run("models", "embed", bag, "--json").json
    assert (made["embedder"], made["made"], made["entries"], made["of"], made["vectors"]) == (bag, 3, 3, 3, 3)
    assert made["serving"]
    assert run("models", "embed", "--json").json["made"] == 0
    assert run("config", "show", "embed.embedder").out.strip().endswith(bag)


def test_the_embedder_before_is_kept_for_as_long_as_it_serves(run: Run, said: Says, bag: str, tmp_path: Path) -> None:
    said("the boiler")
    run("models", "embed", bag)
    other = f"onnx:{bag_onnx(tmp_path / 'other', answer='pooled')}"
    assert run("models", "embed", other).status == 0
    assert run("config", "show", "embed.before").out.strip().endswith(bag)
    run("models", "embed", "none")
    assert run("config", "show", "embed.embedder").out.strip().endswith("none")


def test_switched_off_words_alone_find(run: Run, said: Says, bag: str) -> None:
    said("the boiler", "tea", "the ferry")
    run("models", "embed", bag)
    near = "near in meaning"
    assert near in run("search", "boiler", "--explain").out
    run("models", "embed", "none")
    assert near not in run("search", "boiler", "--explain").out
    run("models", "embed", bag)
    assert near in run("search", "boiler", "--explain").out


def test_without_an_embedder_it_says_how_to_set_one(run: Run) -> None:
    ran = run("models", "embed")
    assert ran.status == 2
    assert "palimpsest models embed ollama:" in ran.err


def test_what_names_no_embedder_is_not_set(run: Run) -> None:
    assert run("models", "embed", "anthropic:claude").status == 2
    assert run("config", "show", "embed.embedder").out.strip().endswith("none")


def test_a_server_that_is_not_there_is_told(run: Run, said: Says) -> None:
    said("tea")
    ran = run("models", "embed", "openai:m@http://127.0.0.1:9/v1")
    assert ran.status == 1
    assert "No server is running at" in ran.err
    assert run("models", "embed", "--json").json["error"]["code"] == "embedding"


def test_a_search_says_why_it_went_by_words_alone(run: Run, said: Says, loopback: Loopback, tmp_path: Path) -> None:
    said("the boiler", "tea")
    loopback.answers_all(vectors_of)
    assert run("models", "embed", f"openai:m@{loopback.address}/v1").status == 0
    assert "words alone" not in run("search", "boiler").err
    loopback.answers_all(lambda _: json_reply({"error": {"message": "no memory left"}}, status=500))
    ran = run("search", "boiler")
    assert ran.status == 0
    assert "the boiler" in ran.out
    assert "Keyword search only" in ran.err
    assert "no memory left" in ran.err
    assert "no memory left" in run("search", "boiler", "--json").err
    (tmp_path / "many.jsonl").write_text('{"query": "boiler"}\n{"query": "tea"}\n', encoding="utf-8")
    assert run("search", "--batch", str(tmp_path / "many.jsonl")).err.count("no memory left") == 1


def test_an_interrupt_keeps_what_was_made(run: Run, said: Says, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl+C while a batch is under way: it is finished and kept, and the next run goes on."""
    from agent.cli import models_embed

    embedder = FakeEmbedder()
    monkeypatch.setattr("agent.config.embedder.embedding_of", lambda _: EmbedderSet.of(embedder))
    monkeypatch.setenv("PALIMPSEST_EMBED_EMBEDDER", "ollama:fake")
    said(*(f"text {number}" for number in range(200)))
    join = threading.Thread.join

    class Interrupting(threading.Thread):
        times = 0

        def join(self, timeout: float | None = None) -> None:
            while len(embedder.texts) < 32 and self.is_alive():
                time.sleep(0.01)
            Interrupting.times += 1
            if Interrupting.times == 1:
                raise KeyboardInterrupt
            join(self, timeout)

    monkeypatch.setattr(models_embed, "Thread", Interrupting)
    ran = run("models", "embed")
    assert ran.status == 130
    assert len(embedder.texts) >= 32
    so_far = len(embedder.texts)
    monkeypatch.setattr(models_embed, "Thread", threading.Thread)
    assert run("models", "embed", "--json").json["made"] == 200 - so_far


def test_where_texts_go_is_said(run: Run, said: Says, loopback: Loopback) -> None:
    loopback.answers_all(vectors_of)
    said("tea")
    near = run("models", "embed", f"openai:m@{loopback.address}/v1")
    assert "not on this machine" not in near.err
    assert loopback.posts[-1].json["input"] == ["tea"]


def test_private_text_never_reaches_the_server(run: Run, said: Says, loopback: Loopback) -> None:
    loopback.answers_all(vectors_of)
    said(
        "the safe opens with <private>4711</private> turns",
        f"api_key = sk-{'abcdefghijklmnop1234' * 2}",
    )
    run("models", "embed", f"openai:m@{loopback.address}/v1")
    sent = b"".join(request.body for request in loopback.posts)
    assert b"the safe opens" in sent
    assert b"4711" not in sent
    assert b"sk-abcdef" not in sent


def test_a_workspace_of_strangers_names_no_embedder(run: Run, said: Says, loopback: Loopback, root: Path) -> None:
    said("tea")
    run("config", "distrust")
    config = root / ".palimpsest" / "config.yaml"
    config.write_text(f"embed:\n  embedder: openai:m@{loopback.address}/v1\n", encoding="utf-8")
    ran = run("models", "embed")
    assert ran.status == 1  # as every command that would write (2 before 0.3.1)
    assert "The workspace is not trusted" in ran.err
    assert f"palimpsest trust {root}" in ran.err
    assert run("models", "embed", "ollama:nomic-embed-text").status == 1
    assert not (Path(os.environ["PALIMPSEST_CONFIG_DIR"]) / "config.yaml").exists(), "nothing is set either"
    assert not loopback.posts


def test_an_embedder_that_changed_under_us_says_why_nothing_is_made(
    run: Run, said: Says, loopback: Loopback, root: Path
) -> None:
    said("tea")
    config = root / ".palimpsest" / "config.yaml"
    config.write_text(f"embed:\n  embedder: openai:m@{loopback.address}/v1\n", encoding="utf-8")
    ran = run("models", "embed")
    assert ran.status == 1
    assert "The embedder is not active" in ran.err
    assert f"`palimpsest trust {root}`" in ran.err
    assert not loopback.posts


# ── stats, doctor ──


def test_stats_tell_how_far_vectors_go(run: Run, said: Says, bag: str) -> None:
    said("the boiler", "tea")
    assert run("stats", "--json").json["vectors"] is None
    run("models", "embed", bag)
    said("a boat", "a train", "a plane")
    told = run("stats", "--json").json["vectors"]
    assert (told["entries"], told["of"], told["embedder"]) == (2, 5, bag)
    assert "2 of 5 entries" in run("stats").out


def test_the_doctor_looks_at_the_embedder(run: Run, said: Says, bag: str, tmp_path: Path) -> None:
    said("tea")

    def found() -> dict[str, tuple[str, str]]:
        findings = run("doctor", "--json").json["findings"]
        return {one["topic"]: (one["state"], one["sentence"]) for one in findings}

    assert found()["embedder"][0] == "missing"
    run("models", "embed", bag)
    assert found()["embedder"][0] == "ok"
    assert "1 of 1 entries" in found()["vectors"][1]
    run("config", "set", "embed.embedder", f"onnx:{tmp_path / 'nowhere'}")
    assert found()["embedder"][0] == "wrong"
    run("config", "set", "embed.embedder", "openai:m@http://127.0.0.1:9/v1")
    assert "No server is running at" in found()["embedder"][1]


# ── in the background of a session ──


@pytest.fixture
def memory(workspace: Workspace, clock: FakeClock) -> Iterator[Memory]:
    embedder = FakeEmbedder()
    opened = Memory.open(workspace, clock, embedding=EmbedderSet.of(embedder))
    opened.embedder = embedder
    yield opened
    opened.close()


def test_it_works_in_slices_and_gives_way_to_a_turn(memory: Memory) -> None:
    Talk(memory).memory.cold.append_many([Talk(memory).draft(f"text {n}", to="c") for n in range(100)])
    assert VectorJob(memory, "fake", slice_s=0.0).step(lambda: False) == StepResult(more=True)
    job = VectorJob(memory, "fake", slice_s=60.0)
    assert job.step(lambda: True) == StepResult(more=True)
    assert memory.embedder.texts == []
    assert job.step(lambda: False) == StepResult()
    assert len(memory.embedder.texts) == 100


def test_nothing_is_begun_where_no_embedder_is_set(memory: Memory) -> None:
    assert not VectorJob(memory, "none").due()


async def test_a_session_makes_vectors_from_its_opening_on_and_says_so(
    workspace: Workspace, bag: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agent.background.jobs.VECTORS_S", 0.005)
    memory = Memory.open(workspace)
    talk = Talk(memory)
    memory.cold.append_many([talk.draft(f"the boiler {'tea ' * (n % 50)}", to="c") for n in range(400)])
    memory.close()

    session = Session.open(workspace, Config(embed=EmbedSettings(embedder=bag)))
    told: list[str] = []
    session.on_working = told.append
    session.begin_background()
    await session.background.idle()
    assert session.memory.search.vectors.coverage().entries == 400
    assert any(words.startswith("making vectors: ") and words.endswith(" of 400") for words in told)
    assert session.working == ""

    async for _ in session.send("a ferry to lisbon"):
        pass
    await session.background.idle()
    assert session.memory.search.vectors.coverage().entries == 401  # what was said; the answer only quotes
    await session.close()


async def test_a_session_without_it_makes_none(workspace: Workspace, bag: str) -> None:
    session = Session.open(workspace, Config(embed=EmbedSettings(embedder=bag, background=False)))
    async for _ in session.send("a ferry to lisbon"):
        pass
    session.begin_background()
    await session.background.idle()
    assert session.memory.search.vectors.coverage().entries == 0
    await session.close()


async def test_closing_does_not_wait_for_a_server_that_stalls(workspace: Workspace, loopback: Loopback) -> None:
    session = Session.open(workspace, Config(embed=EmbedSettings(embedder=f"openai:m@{loopback.address}/v1")))
    Talk(session.memory).say("tea")
    loopback.plays([Stall()], [Stall()])
    session.begin_background()
    while not loopback.posts:
        await asyncio.sleep(0.01)
    began = time.monotonic()
    await session.close()
    assert time.monotonic() - began < 7
    for thread in threading.enumerate():
        assert thread.name != "embed"
