"""How fast a server is read: a burst at once, then a rate, and an end to a flood."""

import asyncio

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
