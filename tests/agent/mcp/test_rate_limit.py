"""How fast a server is read: a burst at once, then a rate, and an end to a flood."""

import asyncio
from types import SimpleNamespace

import pytest

from agent.mcp.rate_limit import BURST_BYTES, BURST_MESSAGES, RateLimit, ServerFlood


@pytest.fixture
def slept(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The pauses, which take no time."""
    pauses: list[float] = []

    async def pause(seconds: float) -> None:
        pauses.append(seconds)

    monkeypatch.setattr(asyncio, "sleep", pause)
    return pauses


async def test_a_burst_is_read_at_once(slept: list[float]) -> None:
    limit = RateLimit()
    await limit.take(BURST_MESSAGES - 1, int(BURST_BYTES) - 1)
    assert slept == []


@pytest.mark.parametrize(("messages", "size"), [(1_000, 0), (0, 16_000_000)])
async def test_a_flood_waits_and_is_ended(messages: int, size: int, slept: list[float]) -> None:
    limit = RateLimit()
    with pytest.raises(ServerFlood, match="more than 200 messages or 8 MB a second"):
        for _ in range(100):
            await limit.take(messages, size)
    assert slept


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time, as its one item."""
    time = [0.0]
    monkeypatch.setattr("agent.mcp.rate_limit.time", SimpleNamespace(monotonic=lambda: time[0]))
    return time


@pytest.mark.parametrize(("messages", "size"), [(200, 0), (0, 8 * 2**20)])
async def test_a_pause_refills_one_burst_and_no_more(
    slept: list[float], now: list[float], messages: int, size: int
) -> None:
    limit, burst = RateLimit(), (BURST_MESSAGES * bool(messages), int(BURST_BYTES) * bool(size))
    await limit.take(*burst)
    now[0] += 3_600
    await limit.take(*burst)
    assert slept == []
    await limit.take(messages, size)
    assert slept == [1.0]


@pytest.mark.parametrize(("messages", "size"), [(200, 0), (0, 8 * 2**20)])
async def test_only_time_held_back_in_a_row_ends_a_server(
    slept: list[float], now: list[float], messages: int, size: int
) -> None:
    limit = RateLimit()
    for _ in range(4):
        await limit.take(BURST_MESSAGES * bool(messages) + 4 * messages, int(BURST_BYTES) * bool(size) + 4 * size)
        now[0] += 60  # full again
        await limit.take(0, 0)
    assert slept == [4.0] * 4
    await limit.take(BURST_MESSAGES * bool(messages), int(BURST_BYTES) * bool(size))
    with pytest.raises(ServerFlood):
        for _ in range(3):
            await limit.take(4 * messages, 4 * size)
            now[0] += 4.5  # half a second's worth, which is no pause
            await limit.take(0, 0)
