"""Retries of a request to a busy server, only before the first event of its answer."""

import asyncio
import random
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing

from models.chat.errors import AttemptFailed
from models.chat.port import Connected, Event, PrefillProgress, RetryWait
from models.settings import ModelSettings

LOADING_WAIT = 1.0  # seconds between looks at a server that still loads its model


async def with_retries(
    attempt: Callable[[], AsyncGenerator[Event, None]], settings: ModelSettings
) -> AsyncGenerator[Event, None]:
    """The events of the first attempt that succeeds; a last AnswerError where none does.

    After the first text, reasoning or tool call nothing is retried: it would be repeated. Each wait begins with a
    RetryWait.
    """
    tries, loading = 0, 0.0
    while True:
        spoke = False
        try:
            async with aclosing(attempt()) as events:
                async for event in events:
                    spoke = spoke or not isinstance(event, Connected | PrefillProgress)
                    yield event
            return
        except AttemptFailed as broken:
            if broken.loading and loading < settings.first_byte_timeout:
                loading += LOADING_WAIT
                delay, number = LOADING_WAIT, 0
            else:
                tries += 1
                delay, number = None if spoke else retry_delay(broken, tries, settings), tries
            failed = broken.failed
        if delay is None:
            yield failed
            return
        yield RetryWait(number, settings.retries, delay, failed.message)
        await asyncio.sleep(delay)


def retry_delay(broken: AttemptFailed, tries: int, settings: ModelSettings) -> float | None:
    """Seconds to wait before try number `tries` + 1; None to give up."""
    if not broken.retry or tries > settings.retries:
        return None
    if broken.after is not None:
        return broken.after if broken.after <= settings.longest_wait else None
    wait = settings.retry_wait * 2 ** (tries - 1) * random.uniform(0.8, 1.2)  # spreads those who wait
    return min(wait, settings.longest_wait)
