"""What the tests of blocks say, see and press."""

from typing import Any

from tests.loopback import Loopback, Received, data, delta, json_reply, stream
from tui.widgets.transcript.block import Block

LINES = [f"行 {number} of the list 🏺" for number in range(300)]


class Script:
    """A server that answers chat requests in order."""

    def __init__(self, server: Loopback) -> None:
        self.server = server
        self._waiting: list[Any] = []
        server.answers_all(self._reply)

    def plays(self, *replies: Any) -> None:
        self._waiting += replies

    def _reply(self, received: Received) -> Any:
        is_chat = received.path.endswith("/chat/completions") and self._waiting
        return self._waiting.pop(0) if is_chat else json_reply({}, status=404)


def thinking(*pieces: str, answer: str = "Done.") -> Any:
    steps = [delta(reasoning_content=piece) for piece in pieces]
    return stream(*map(data, [*steps, delta(content=answer)]), data(delta("stop")), data("[DONE]"))


def blocks(chat: Any) -> list[Block]:
    return [item for item in chat.screen.transcript.line_cache.items if isinstance(item, Block)]


def block_lines(chat: Any) -> list[str]:
    return [row.text for block in blocks(chat) for row in block.rows]


async def resumed(chat: Any) -> None:
    """Shows the conversation anew, from the store."""
    await chat.screen.controller.return_to_newest()
    await chat.pilot.pause()


def foot(chat: Any) -> str:
    """The rows of the focused block's actions."""
    return " · ".join(chat.seen[-3:])


async def focus(chat: Any, words: str) -> None:
    """Moves up to the block whose first row has these words."""
    for _ in range(30):
        await chat.press("ctrl+up")
        target = chat.screen.transcript.focused
        if target and isinstance(target.first, Block) and words in target.first.text:
            return
    raise AssertionError(f"no block with {words}: {chat.text}")
