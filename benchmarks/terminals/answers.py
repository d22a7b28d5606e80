"""Markdown of any length, and a server that streams it as an OpenAI-compatible model would.

    python -m benchmarks.terminals.answers mixed 20000 400

The server prints its port. It streams about four characters an event, `rate` events a second, to each chat request.
"""

import asyncio
import json
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

CHARS = 4  # characters of a token
FENCE = 1_500  # tokens of the open fence that ends the mixed text
LAST_WORD = "ᛟᛗᛖᚷᚨ"  # ends every answer, and nothing else draws it
WORDS = [
    *("memory", "page", "window", "recall", "answer", "budget", "the", "a", "of", "in", "and", "prefix", "layer"),
    *(
        "记忆",
        "页面",
        "上下文",
        "压缩",
        "之后",
        "仍然",
        "可以",
        "找回。",
        "token",
        "cache",
        "stream",
        "because",
        "when",
    ),
    *("boiler", "harbour", "reads", "`zones`", "**twice**", "*before*", "it", "writes,", "so", "all"),
]


def mixed(tokens: int) -> str:
    """Headings, paragraphs, lists, tables and closed fences, and at last a fence that stays open."""
    dice = random.Random(7)
    room = (tokens - FENCE) * CHARS
    parts: list[str] = []
    size = 0
    while size < room:
        part = dice.choice((_paragraph, _paragraph, _list, _table, _fence))(dice)
        parts.append(part)
        size += len(part) + 2
    return "\n\n".join(parts)[: max(room, 0)] + "\n\n```python\n" + _code(dice, FENCE * CHARS)


def fenced(tokens: int) -> str:
    """One fence from the first line, never closed."""
    return "```python\n" + _code(random.Random(7), tokens * CHARS)


def _paragraph(dice: random.Random) -> str:
    head = f"## {' '.join(dice.choices(WORDS[:12], k=4))}\n\n" if dice.random() < 0.3 else ""
    return head + " ".join(dice.choices(WORDS, k=dice.randint(40, 110)))


def _list(dice: random.Random) -> str:
    return "\n".join(f"{n}. {' '.join(dice.choices(WORDS, k=14))}" for n in range(1, dice.randint(4, 12)))


def _table(dice: random.Random) -> str:
    rows = [f"| {' | '.join(dice.choices(WORDS, k=4))} |" for _ in range(dice.randint(3, 9))]
    return "\n".join(["| one | two | three | four |", "|---|---|--:|---|", *rows])


def _fence(dice: random.Random) -> str:
    return f"```python\n{_code(dice, dice.randint(300, 900))}\n```"


def _code(dice: random.Random, chars: int) -> str:
    lines: list[str] = []
    size = 0
    while size < chars:
        name = dice.choice(("page", "span", "entry", "zone"))
        lines += [f"def read_{name}_{len(lines)}({name}: str, limit: int = {dice.randint(1, 99)}) -> list[int]:"]
        lines += [f'    """Gives the {name} in view."""', f"    return [ord(mark) for mark in {name}[:limit]]", ""]
        size += sum(map(len, lines[-4:]))
    return "\n".join(lines)[:chars]


TEXTS: dict[str, Callable[[int], str]] = {"mixed": mixed, "fence": fenced}


@contextmanager
def answering(text: str, tokens: int, rate: float) -> Iterator[str]:
    """A server process that answers with this text; gives the address of its API."""
    command = [sys.executable, "-m", "benchmarks.terminals.answers", text, str(tokens), str(rate)]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        yield f"http://127.0.0.1:{server.stdout.readline().strip()}/v1"
    finally:
        server.terminate()
        server.wait()


async def serve(text: str, rate: float) -> None:
    """Serves `text`, and prints the port."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        lengths = [line for line in head.splitlines() if line.lower().startswith("content-length:")]
        await reader.readexactly(int(lengths[0].partition(":")[2]) if lengths else 0)
        if head.startswith("POST ") and "/chat/completions" in head:
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n")
            await _stream(writer, text, rate)
        else:
            writer.write(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


async def _stream(writer: asyncio.StreamWriter, text: str, rate: float) -> None:
    pieces = [text[at : at + CHARS] for at in range(0, len(text), CHARS)] + [f"\n```\n\n{LAST_WORD}"]
    start = time.perf_counter()
    for number, piece in enumerate(pieces):
        event = {"model": "m", "choices": [{"index": 0, "delta": {"content": piece}, "finish_reason": None}]}
        writer.write(f"data: {json.dumps(event)}\n\n".encode())
        if (ahead := number / rate - (time.perf_counter() - start)) > 0.005:
            await writer.drain()
            await asyncio.sleep(ahead)
    end = {"model": "m", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
    writer.write(f"data: {json.dumps(end)}\n\ndata: [DONE]\n\n".encode())


if __name__ == "__main__":
    asyncio.run(serve(TEXTS[sys.argv[1]](int(sys.argv[2])), float(sys.argv[3])))
