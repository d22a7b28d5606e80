"""One thread, in the order of what matters; what libraries print there stays off the screen."""

import asyncio
import sys
import threading
from collections.abc import Iterator

import pytest

from models.mlx_thread import Emit, JobPriority, MlxThread


@pytest.fixture
def thread() -> Iterator[MlxThread]:
    opened = MlxThread()
    yield opened
    opened.close()


def test_every_job_runs_on_the_same_thread(thread: MlxThread) -> None:
    idents = {thread.run(JobPriority.CHAT, threading.get_ident).result(5) for _ in range(20)}
    assert len(idents) == 1
    assert threading.get_ident() not in idents


def test_chat_goes_before_reading_pages_before_embedding(thread: MlxThread) -> None:
    gate = threading.Event()
    order: list[str] = []
    first = thread.run(JobPriority.OCR, lambda: gate.wait(5))
    waiting = [
        thread.run(JobPriority.EMBEDDING, lambda: order.append("embedding")),
        thread.run(JobPriority.OCR, lambda: order.append("ocr")),
        thread.run(JobPriority.CHAT, lambda: order.append("chat 1")),
        thread.run(JobPriority.CHAT, lambda: order.append("chat 2")),
    ]
    gate.set()
    for job in (first, *waiting):
        job.result(5)
    assert order == ["chat 1", "chat 2", "ocr", "embedding"]


def test_what_a_job_raises_reaches_whoever_waits(thread: MlxThread) -> None:
    with pytest.raises(ZeroDivisionError):
        thread.run(JobPriority.CHAT, lambda: 1 // 0).result(5)
    assert thread.run(JobPriority.CHAT, lambda: 7).result(5) == 7


def test_what_a_library_prints_is_kept_aside(thread: MlxThread, capsys: pytest.CaptureFixture[str]) -> None:
    def loud() -> None:
        print("Fetching 12 files")
        print("a warning", file=sys.stderr)

    thread.run(JobPriority.CHAT, loud).result(5)
    print("our own")
    assert capsys.readouterr() == ("our own\n", "")
    assert list(thread.heard) == ["Fetching 12 files", "a warning"]


def test_another_thread_prints_as_ever_meanwhile(thread: MlxThread, capsys: pytest.CaptureFixture[str]) -> None:
    begun, gate = threading.Event(), threading.Event()

    def wait() -> None:
        begun.set()
        gate.wait(5)

    job = thread.run(JobPriority.CHAT, wait)
    begun.wait(5)
    print("seen")
    gate.set()
    job.result(5)
    assert capsys.readouterr().out == "seen\n"


async def test_a_stream_gives_what_the_job_emits(thread: MlxThread) -> None:
    def count(emit: "Emit[int]") -> None:
        for n in range(5):
            emit(n)

    assert [n async for n in thread.stream(JobPriority.CHAT, count)] == [0, 1, 2, 3, 4]


async def test_leaving_a_stream_ends_its_job(thread: MlxThread) -> None:
    ended = threading.Event()

    def endless(emit: "Emit[int]") -> None:
        try:
            while True:
                emit(1)
        finally:
            ended.set()

    stream = thread.stream(JobPriority.CHAT, endless)
    await anext(stream)
    await stream.aclose()
    assert await asyncio.to_thread(ended.wait, 5)


async def test_a_stream_raises_what_its_job_raises(thread: MlxThread) -> None:
    def broken(emit: "Emit[int]") -> None:
        emit(1)
        raise ValueError("no")

    came: list[int] = []
    with pytest.raises(ValueError, match="no"):
        async for n in thread.stream(JobPriority.CHAT, broken):
            came.append(n)
    assert came == [1]


def test_a_closed_thread_takes_no_job(thread: MlxThread) -> None:
    thread.run(JobPriority.CHAT, lambda: None).result(5)
    thread.close()
    with pytest.raises(RuntimeError):
        thread.run(JobPriority.CHAT, lambda: None)
