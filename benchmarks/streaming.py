"""A long Markdown answer streamed into the transcript, beside Textual's own stream, on the same text.

    python -m benchmarks.streaming [--tokens 20000] [--rate 400] [--without-reference] [--json]

An SSE server on loopback, a process of its own, sends about four characters a token. Each side runs in a process of
its own, without a terminal, and is measured there: CPU seconds from the first token to the last line drawn, the time
from a key to the redrawn prompt (a key every 100 ms), and peak memory. Marks: CPU at most a tenth of Textual's on the
mixed text, input echo p95 under 50 ms, CPU linear in length, also for one fence that never closes.
"""

import argparse
import asyncio
import json
import random
import resource
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable
from typing import Any

TOKEN = 4  # characters
FENCE = 1_500  # tokens of the open fence that ends the mixed text
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
    *("boiler", "harbour", "reads", "`zones`", "**twice**", "*before*", "it", "writes,", "so", "nothing", "moves."),
]


def mixed(tokens: int) -> str:
    """Headings, paragraphs, lists, tables and closed fences, and at last a fence that stays open."""
    dice = random.Random(7)
    room = tokens * TOKEN - FENCE * TOKEN
    parts: list[str] = []
    size = 0
    while size < room:
        part = dice.choice((_paragraph, _paragraph, _list, _table, _fence))(dice)
        parts.append(part)
        size += len(part) + 2
    return "\n\n".join(parts)[: max(room, 0)] + "\n\n```python\n" + _code(dice, FENCE * TOKEN)


def fenced(tokens: int) -> str:
    """One fence from the first line, never closed."""
    return "```python\n" + _code(random.Random(7), tokens * TOKEN)


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


async def serve(text: str, rate: float) -> None:
    """An OpenAI-like SSE stream of `text`, a token an event; prints its port."""

    async def answer(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        start = time.perf_counter()
        for number, at in enumerate(range(0, len(text), TOKEN)):
            event = {"choices": [{"delta": {"content": text[at : at + TOKEN]}}]}
            writer.write(f"data: {json.dumps(event)}\n\n".encode())
            if (ahead := number / rate - (time.perf_counter() - start)) > 0.005:
                await writer.drain()
                await asyncio.sleep(ahead)
        writer.write(b"data: [DONE]\n\n")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


async def events_from(port: int) -> AsyncIterator[str]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    async for line in reader:
        if line.startswith(b"data: {"):
            yield json.loads(line[6:])["choices"][0]["delta"]["content"]
        elif line.startswith(b"data: [DONE]"):
            break
    writer.close()


async def child(side: str, port: int) -> dict[str, Any]:
    """One side, measured in this process."""
    from textual.app import App, ComposeResult
    from textual.containers import VerticalScroll
    from textual.events import Key
    from textual.widgets import Markdown, TextArea

    from tui.widgets.transcript.view import Transcript

    class Bench(App[None]):
        CSS = "Transcript {height: 1fr; scrollbar-gutter: stable} VerticalScroll {height: 1fr} TextArea {height: 5}"

        def compose(self) -> ComposeResult:
            if side == "ours":
                yield Transcript()
            else:
                with VerticalScroll():
                    yield Markdown()
            yield TextArea()

    echoes: list[float] = []
    app = Bench()

    async def type_keys() -> None:
        area = app.query_one(TextArea)
        area.focus()
        while True:
            await asyncio.sleep(0.1)
            before, start = area.text, time.perf_counter()
            drawn = asyncio.Event()
            app.post_message(Key("x", "x"))
            while area.text == before:
                await asyncio.sleep(0)
                if time.perf_counter() - start > 30:
                    raise RuntimeError("the key never came")
            area.call_after_refresh(drawn.set)
            await drawn.wait()
            echoes.append(time.perf_counter() - start)

    async with app.run_test(size=(100, 40)) as pilot:
        await pilot.pause()
        typing = asyncio.create_task(type_keys())
        cpu, start = time.process_time(), time.perf_counter()
        if side == "ours":
            view = app.query_one(Transcript)
            async for text in events_from(port):
                view.feed(text)
            view.end_stream()
        else:
            stream = Markdown.get_stream(app.query_one(Markdown))
            app.query_one(VerticalScroll).anchor()
            async for text in events_from(port):
                await stream.write(text)
            await stream.stop()
        await pilot.pause()
        cpu, wall = time.process_time() - cpu, time.perf_counter() - start
        typing.cancel()
    echoes.sort()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1 if sys.platform == "darwin" else 1024)
    return {
        "cpu_s": round(cpu, 2),
        "wall_s": round(wall, 1),
        "echo_p50_ms": round(1000 * echoes[len(echoes) // 2], 1),
        "echo_p95_ms": round(1000 * echoes[int(len(echoes) * 0.95)], 1),
        "keys": len(echoes),
        "peak_mb": round(peak if sys.platform != "darwin" else peak / 2**20, 1),
    }


def measure(side: str, text: str, tokens: int, rate: float) -> dict[str, Any]:
    here = [sys.executable, "-m", "benchmarks.streaming"]
    server = subprocess.Popen(
        [*here, "--serve", text, "--tokens", str(tokens), "--rate", str(rate)], stdout=subprocess.PIPE, text=True
    )
    try:
        assert server.stdout is not None
        port = server.stdout.readline().strip()
        found = subprocess.run([*here, "--child", side, "--port", port], stdout=subprocess.PIPE, text=True, check=True)
    finally:
        server.terminate()
        server.wait()
    return {"side": side, "text": text, "tokens": tokens, **json.loads(found.stdout)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tokens", type=int, default=20_000)
    parser.add_argument("--rate", type=float, default=400, help="tokens a second")
    parser.add_argument("--without-reference", action="store_true", help="leave Textual's own stream out")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--serve", choices=TEXTS, help=argparse.SUPPRESS)
    parser.add_argument("--child", choices=("ours", "textual"), help=argparse.SUPPRESS)
    parser.add_argument("--port", type=int, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.serve:
        asyncio.run(serve(TEXTS[asked.serve](asked.tokens), asked.rate))
    elif asked.child:
        print(json.dumps(asyncio.run(child(asked.child, asked.port))))
    else:
        report(asked)


def report(asked: argparse.Namespace) -> None:
    sizes = [asked.tokens // 4, asked.tokens // 2, asked.tokens]
    runs = [measure("ours", text, size, asked.rate) for text in TEXTS for size in sizes]
    if not asked.without_reference:
        runs.append(measure("textual", "mixed", asked.tokens, asked.rate))
    ours = next(run for run in runs if run["text"] == "mixed" and run["tokens"] == asked.tokens)
    marks: dict[str, Any] = {
        f"{text}: CPU of {asked.tokens} tokens ÷ CPU of half as many": round(full["cpu_s"] / half["cpu_s"], 2)
        for text in TEXTS
        for half, full in [[run for run in runs if run["text"] == text and run["side"] == "ours"][1:3]]
    }
    if not asked.without_reference:
        marks["CPU ÷ CPU of Markdown.get_stream()"] = round(ours["cpu_s"] / runs[-1]["cpu_s"], 3)
    if asked.json:
        print(json.dumps({"schema": 1, "runs": runs, "marks": marks}))
        return
    print(f"{'side':8} {'text':6} {'tokens':>7} {'CPU s':>7} {'echo p50':>9} {'echo p95':>9} {'peak MB':>8}")
    for run in runs:
        print(
            f"{run['side']:8} {run['text']:6} {run['tokens']:7} {run['cpu_s']:7.2f} {run['echo_p50_ms']:7.1f}ms"
            f" {run['echo_p95_ms']:7.1f}ms {run['peak_mb']:8.1f}"
        )
    for name, value in marks.items():
        print(f"{name}: {value}")


if __name__ == "__main__":
    main()
